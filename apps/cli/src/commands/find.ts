import { type Dropped, parseFileName, type StoredVersion } from '@bloom/leveldb';
import type { DatabaseEntry } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import type { Columns } from '../formats/format-contract.js';
import { formatHelp, type FormatName, formatNames } from '../formats/format.js';
import { storedKey } from '../formats/version.js';
import { addDamageOption } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUTS } from '../inputs/input-help.js';
import { keyArgument } from '../inputs/key-argument.js';
import { shownName } from '../inputs/location.js';
import { type Input, type InputOptions, withInput } from '../inputs/opened-input.js';
import { type DatabaseFile, isSync, noteDropped } from '../inputs/opened-folder.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { olderName, storedIn } from '../inputs/stored-files.js';
import { addKeyFormOptions, noteAssumption, openDatabaseTable, openTable, type TableFile } from '../inputs/opened-table.js';
import { EntryOutput } from '../outputs/entry-output.js';
import { note } from '../outputs/output.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { addPluginOptions } from '../plugins/plugin-options.js';
import { DECODE_OPTION } from './decode-option.js';

/** All but `words`, which has no values. */
const VALUE_FORMATS = formatNames.filter((name) => name !== 'words');
const FACTS = ['file', 'level', 'sequence', 'type'] as const;

interface FindOptions extends InputOptions {
  readonly decode?: true;
  readonly hex?: true;
  readonly format: FormatName;
}

/** One of the places that hold the key. */
interface Found {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly file: string;
  /** For a table that belongs to a database. */
  readonly level?: number | undefined;
  readonly sequence?: bigint;
  readonly kind: string | number;
}

export function addFind(program: Command): void {
  const command = program
    .command('find')
    .summary('print every version of a key, and the file that holds it')
    .description(
      "Looks for KEY in tables, folders and logs, and prints every version of it: file, level, sequence, type, value. In a database's folder, it searches all logs and tables, including obsolete ones, whose level is -; at a URL or in a bucket, only those in use. Exits with 1 if the key is not found.",
    )
    .argument('<key>', 'the key')
    .argument('<input...>', INPUTS)
    .option('--hex', 'key and values are in hexadecimal')
    .addOption(new Option(...DECODE_OPTION).conflicts('hex'))
    .addOption(new Option('-f, --format <format>', 'the format of the output').choices(VALUE_FORMATS).default('tsv'));
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `${formatHelp(VALUE_FORMATS)}${BUCKET_HELP}
Examples:
  bloom find France *.ldb
  bloom find user/42 path/to/database
  bloom find user/42 path/to/database -f jsonl
  bloom find --decode theme 'Local Storage/leveldb'`,
    )
    .action(find);
}

async function find(text: string, paths: readonly string[], options: FindOptions): Promise<void> {
  if (options.decode) return (await import('./decoded.js')).findDecoded(paths, text, options);
  const key = keyArgument(text, options.hex === true);
  const { format } = options;
  if (format === 'kv' && options.hex) throw new Failure('kv is binary: omit --hex, or use --format hex');
  const columns: Columns = { key: format === 'kv', value: true, facts: format === 'kv' ? [] : FACTS, hex: options.hex === true };
  const output = new EntryOutput(format);
  let places = 0;
  try {
    for (const path of paths) {
      const tracing = await tracingFor(options);
      await withInput(path, { ...options, tracing }, async (input) => {
        if (input.kind === 'table') noteAssumption(input.file, options);
        const found = await foundIn(input, key);
        places += found.length;
        await output.print(input.file.path, columns, found, (one) => ({
          key: one.sequence === undefined ? one.key : storedKey({ ...one, kind: one.kind, sequence: one.sequence } as DatabaseEntry),
          value: one.value,
          facts: format === 'kv' ? [] : [one.file, one.level === undefined ? '-' : String(one.level), one.sequence === undefined ? '-' : String(one.sequence), String(one.kind)],
        }));
        tracing?.report(input.file.path, input.kind === 'database' ? input.file.database.stats : openTable(input.file).stats);
      });
    }
  } finally {
    await output.flush();
  }
  if (places > 0) return;
  process.exitCode = EXIT.no;
  note(`${text === '' ? '""' : text}: not found in ${paths.length === 1 ? shownName(paths[0]!) : `any of ${paths.length} inputs`}`);
}

function foundIn({ kind, file }: Input, key: Uint8Array): Promise<readonly Found[]> {
  return kind === 'database' ? foundInDatabase(file, key) : foundInTable(file, key);
}

async function foundInTable(file: TableFile, key: Uint8Array): Promise<readonly Found[]> {
  const { path, comparator, isSearchable } = file;
  const range = isSearchable ? { gte: key, lte: key } : {};
  const isWanted = (other: Uint8Array): boolean => comparator.compare(other, key) === 0;
  const found: Found[] = [];
  if (!file.isInternal) {
    const table = openTable(file);
    // If the filter says no, nothing is read.
    if (isSearchable && !table.mayContain(key)) return found;
    for await (const [other, value] of table.entries(range)) if (isWanted(other)) found.push({ key: other, value, file: path, kind: 'value' });
    return found;
  }
  const table = await openDatabaseTable(file);
  if (isSearchable && (await table.get(key)) === undefined) return found;
  for await (const version of table.entries(range)) if (isWanted(version.key)) found.push({ ...version, file: path });
  return found;
}

/** First the versions in the files of the database, found by index; then those in obsolete files, such as compacted tables. */
async function foundInDatabase({ path, database, folder, plugins }: DatabaseFile, key: Uint8Array): Promise<readonly Found[]> {
  const inUse: StoredVersion[] = await database.versions(key);
  const { levels, logs, dropped } = database.describe();
  noteDropped(path, dropped);
  const listed = new Set(isSync(folder) ? folder.list() : []);
  for (const { name } of [...levels.flat(), ...logs]) listed.delete(listed.has(name) ? name : olderName(name));
  const obsolete = [...listed].filter((name) => ['log', 'table'].includes(parseFileName(name)?.type ?? ''));
  const found: Found[] = [...inUse];
  if (obsolete.length > 0) {
    const skipped: Dropped[] = [];
    const stored = storedIn(folder, obsolete, { codecs: knownCodecs(plugins), damage: 'skip', onDropped: (drop) => skipped.push(drop) });
    try {
      for await (const entry of stored) if (database.compare(entry.key, key) === 0) found.push(entry);
    } finally {
      noteDropped(path, skipped);
    }
  }
  return found;
}
