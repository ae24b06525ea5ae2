import { DELETION } from '@bloom/sstable/database';
import type { Command } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { EXIT } from './failure.js';
import { keyArgument } from './key-argument.js';
import {
  addKeyFormOptions,
  type KeyFormOptions,
  noteAssumption,
  openDatabaseTable,
  openTable,
  type TableFile,
  withTableFile,
} from './opened-table.js';
import { drain, flush, note } from './output.js';

const LF = 10;
/** Characters of a key that is not found that are shown. */
const SHOWN_CHARACTERS = 200;

interface GetOptions extends KeyFormOptions {
  readonly hex?: true;
}

export function addGet(program: Command): void {
  const command = program
    .command('get')
    .summary('print the values of keys')
    .description(
      "Prints the value of every KEY, one a line, in the order of the keys. Exits with 1 if any is absent. In a database's table KEY is a user key: its newest version counts, and a deleted one is absent.",
    )
    .argument('<table>', 'the table')
    .argument('<keys...>', 'the keys')
    .option('--hex', 'keys and values are in hexadecimal');
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  bloom get capitals.ldb France
  bloom get capitals.ldb France Japan Peru
  bloom get --hex table.ldb 00ff68656c6c6f
  bloom get 000005.ldb user/42
  bloom get capitals.ldb -- -starts-with-a-dash`,
    )
    .action(get);
}

async function get(path: string, texts: readonly string[], options: GetOptions): Promise<void> {
  const hex = options.hex === true;
  const keys = texts.map((text) => keyArgument(text, hex));
  const out = new ByteBuffer();
  await withTableFile(path, options, async (file) => {
    noteAssumption(file, options);
    const valueOf = file.isInternal ? newestValues(file, keys) : values(file, keys);
    try {
      for (const [i, key] of keys.entries()) {
        const value = valueOf(key);
        if (value === undefined) {
          process.exitCode = EXIT.no;
          await flush(out);
          const text = texts[i]!;
          note(`${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}: not found`);
          continue;
        }
        if (hex) out.hex(value);
        else out.bytes(value);
        out.byte(LF);
        await drain(out);
      }
    } finally {
      // What was found before something failed is not lost.
      await flush(out);
    }
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
  const valueOf = (newest: { type: number; value: Uint8Array } | undefined): Uint8Array | undefined =>
    newest === undefined || newest.type === DELETION ? undefined : newest.value;
  if (file.isSearchable) return (key) => valueOf(table.get(key));
  const found = new WantedKeys<{ sequence: bigint; type: number; value: Uint8Array }>(keys);
  for (const { userKey, sequence, type, value } of table.entries()) {
    if (!found.has(userKey)) continue;
    const newest = found.get(userKey);
    if (newest === undefined || newest.sequence < sequence) found.set(userKey, { sequence, type, value });
  }
  return (key) => valueOf(found.get(key));
}

/** What a walk through a whole table found of some keys. */
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
