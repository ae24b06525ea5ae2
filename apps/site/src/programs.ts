import { realDatabases, realTables } from '@bloom/fixtures';

const COMPRESSION: Readonly<Record<string, string>> = { 0: 'none', 1: 'Snappy', 2: 'zlib or zstd', 4: 'raw deflate' };

/** Whose files they are, by repository. */
const PROGRAM: Readonly<Record<string, string>> = {
  'CityOfZion/neo-python': 'a node of the NEO chain',
  'PrismarineJS/bedrock-provider': 'Minecraft, Bedrock Edition',
  'cockroachdb/pebble': 'Pebble, in LevelDB’s format',
  'golang/leveldb': 'LevelDB and LevelDB-Go',
  'google/dfindexeddb': 'Chromium’s IndexedDB',
  'ipfs/js-ipfs-repo': 'IPFS in JavaScript',
  'lxndrblz/forensicsim': 'Chromium’s IndexedDB, in an Electron program',
  'tensorflow/rust': 'TensorFlow, a checkpoint',
  'tensorflow/serving': 'TensorFlow, checkpoints',
};

/** What the real files among the test data are, by repository. */
export function programsTable(): string {
  const tables = realTables();
  const orders = new Map(realDatabases().map(({ name, comparator }) => [name.split('/')[0]!, comparator]));
  const repositories = new Map(tables.map(({ repo, file }) => [repo, file.split('/')[0]!]));
  const rows = [...repositories].map(([repo, folder]) => {
    const own = tables.filter((table) => table.repo === repo);
    const types = new Set(own.flatMap(({ blockTypes }) => Object.keys(blockTypes.data ?? {})));
    const filters = new Set(own.flatMap(({ metaKeys }) => metaKeys.filter((key) => key.startsWith('filter.')).map((key) => `\`${key.slice('filter.'.length)}\``)));
    const entries = own.reduce((sum, table) => sum + table.entries, 0);
    const program = PROGRAM[repo];
    if (program === undefined) throw new Error(`whose files are those of ${repo}?`);
    return `| ${program} | [${repo}](https://github.com/${repo}) | ${own.length} | ${entries.toLocaleString('en')} | ${orders.get(folder) ?? '–'} | ${[...types].sort().map((type) => COMPRESSION[type] ?? type).join(', ') || '–'} | ${[...filters].join(', ') || 'none'} |`;
  });
  return `| written by | repository | tables | entries | order of its databases | blocks | filters |\n| --- | --- | ---: | ---: | --- | --- | --- |\n${rows.sort().join('\n')}\n`;
}
