import { realDatabases, realFiles, realTables } from '@bloom/fixtures';

const COMPRESSION: Readonly<Record<string, string>> = { 0: 'none', 1: 'Snappy', 2: 'zlib or zstd', 4: 'raw deflate' };

/** The programs that wrote the files, by the start of the files' paths. */
const PROGRAM: readonly (readonly [start: string, program: string])[] = [
  ['bedrock-provider/', 'Minecraft, Bedrock Edition'],
  ['dfindexeddb/chrome/', 'Chromium’s IndexedDB'],
  ['dfindexeddb/', 'LevelDB, for the tests of a reader'],
  ['forensicsim/', 'Chromium’s IndexedDB, in an Electron program'],
  ['golang-leveldb/', 'LevelDB and LevelDB-Go'],
  ['js-ipfs-repo/', 'IPFS in JavaScript'],
  ['neo-python/', 'a node of the NEO chain'],
  ['pebble/', 'Pebble, in LevelDB’s format'],
  ['tf-rust/', 'TensorFlow, a checkpoint'],
  ['tf-serving/', 'TensorFlow, checkpoints'],
];

/** The start of a path for which there is a program. */
function startOf(path: string): string {
  const found = PROGRAM.find(([start]) => path.startsWith(start));
  if (found === undefined) throw new Error(`no program is known for ${path}`);
  return found[0];
}

/** A table of the real files among the test data, by program. */
export function programsTable(): string {
  const repositories = new Map(realFiles().map(({ file, repo }) => [startOf(file), repo]));
  const rows = PROGRAM.map(([start, program]) => {
    const own = realTables().filter(({ file }) => startOf(file) === start);
    const databases = realDatabases().filter(({ name }) => startOf(`${name}/`) === start);
    const repo = repositories.get(start);
    if (repo === undefined) throw new Error(`there are no files in ${start}`);
    const orders = new Set(databases.map(({ comparator }) => (comparator === 'leveldb.BytewiseComparator' ? 'bytewise' : `\`${comparator}\``)));
    const types = new Set(own.flatMap(({ blockTypes }) => Object.keys(blockTypes.data ?? {})));
    const filters = new Set(own.flatMap(({ metaKeys }) => metaKeys.filter((key) => key.startsWith('filter.')).map((key) => `\`${key.slice('filter.'.length)}\``)));
    const entries = own.reduce((sum, table) => sum + table.entries, 0);
    const blocks = [...types].sort().map((type) => COMPRESSION[type] ?? type);
    const cells = [program, `[${repo}](https://github.com/${repo})`, own.length === 0 ? 'only a log' : own.length, own.length === 0 ? '–' : entries.toLocaleString('en'), [...orders].join(', ') || '–', blocks.join(', ') || '–', own.length === 0 ? '–' : [...filters].join(', ') || 'none'];
    return `| ${cells.join(' | ')} |`;
  });
  return `| written by | repository | tables | entries | key order | blocks | filters |\n| --- | --- | ---: | ---: | --- | --- | --- |\n${rows.sort().join('\n')}\n`;
}
