import type { DatabaseEntry } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { type GetOptions, print, valueEncoder } from './found-values.js';
import { keyArgument } from './key-argument.js';
import { addDamageOption, isFolder, mustBeForFolder, noteDatabase } from './folder-argument.js';
import {
  addKeyFormOptions,
  noteAssumption,
  openDatabaseTable,
  openTable,
  type TableFile,
  withTableFile,
} from './opened-table.js';

export function addGet(program: Command): void {
  const command = program
    .command('get')
    .summary('print the values of keys')
    .description(
      "Prints the value of every KEY, one per line, in the order of the arguments. Exits with 1 if any is absent. In a database's folder or table, KEY is a user key: its newest version counts, and a deleted key is absent.",
    )
    .argument('<table|folder>', "the table, or a database's folder")
    .argument('<keys...>', 'the keys')
    .option('--hex', 'keys and values are in hexadecimal')
    .option('--all-versions', 'for a folder: print all stored versions of each key: key, sequence, type, file, value')
    .addOption(new Option('--explain', 'for a folder: say on standard error how each key was looked up: logs, tables, filters, blocks').conflicts('allVersions'));
  addKeyFormOptions(addDamageOption(command))
    .addHelpText(
      'after',
      `
Examples:
  bloom get capitals.ldb France
  bloom get capitals.ldb France Japan Peru
  bloom get --hex table.ldb 00ff68656c6c6f
  bloom get 000005.ldb user/42
  bloom get path/to/database user/42
  bloom get --all-versions path/to/database user/42
  bloom get --explain path/to/database user/42
  bloom get capitals.ldb -- -starts-with-a-dash`,
    )
    .action(get);
}

async function get(path: string, texts: readonly string[], options: GetOptions): Promise<void> {
  const keys = texts.map((text) => keyArgument(text, options.hex === true));
  if (isFolder(path)) return (await import('./get-folder.js')).getFromFolder(path, keys, texts, options);
  mustBeForFolder(path, '--all-versions', options.allVersions);
  mustBeForFolder(path, '--explain', options.explain);
  mustBeForFolder(path, '--damage', options.damage);
  await withTableFile(path, options, async (file) => {
    noteAssumption(file, options);
    const valueOf = file.isInternal ? newestValues(file, keys) : values(file, keys);
    noteDatabase(path);
    await print(valueOf, valueEncoder(options), keys, texts);
  });
}

type ValueOf = (key: Uint8Array) => Uint8Array | undefined;

function values(file: TableFile, keys: readonly Uint8Array[]): ValueOf {
  const table = openTable(file);
  if (file.isSearchable) return (key) => table.get(key);
  const found = new WantedKeys<Uint8Array>(keys);
  for (const [key, value] of table.entries()) if (found.has(key)) found.set(key, value);
  return (key) => found.get(key);
}

function newestValues(file: TableFile, keys: readonly Uint8Array[]): ValueOf {
  const table = openDatabaseTable(file);
  const valueOf = (newest: Pick<DatabaseEntry, 'kind' | 'value'> | undefined): Uint8Array | undefined =>
    newest === undefined || newest.kind === 'deletion' ? undefined : newest.value;
  if (file.isSearchable) return (key) => valueOf(table.get(key));
  const found = new WantedKeys<DatabaseEntry>(keys);
  for (const entry of table.entries()) {
    if (!found.has(entry.key)) continue;
    const newest = found.get(entry.key);
    if (newest === undefined || newest.sequence < entry.sequence) found.set(entry.key, entry);
  }
  return (key) => valueOf(found.get(key));
}

/** What a walk through a whole table has found for some keys. */
class WantedKeys<T> {
  readonly #found = new Map<string, T | undefined>();

  constructor(keys: readonly Uint8Array[]) {
    for (const key of keys) this.#found.set(textOf(key), undefined);
  }

  has(key: Uint8Array): boolean {
    return this.#found.has(textOf(key));
  }

  get(key: Uint8Array): T | undefined {
    return this.#found.get(textOf(key));
  }

  set(key: Uint8Array, value: T): void {
    this.#found.set(textOf(key), value);
  }
}

function textOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
}
