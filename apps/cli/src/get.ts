import type { SyncTable } from '@bloom/sstable';
import { DELETION } from '@bloom/sstable/database';
import type { Command } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { EXIT } from './failure.js';
import { keyArgument } from './key-argument.js';
import { filtersOtherKeys, withDatabaseTable, withTable } from './opened-table.js';
import { drain, flush, note } from './output.js';

const LF = 10;

interface GetOptions {
  readonly hex?: true;
  readonly internal?: true;
}

export function addGet(program: Command): void {
  program
    .command('get')
    .summary('print the values of keys')
    .description('Prints the value of every KEY, one a line, in the order of the keys. Exits with 1 if any is absent.')
    .argument('<table>', 'the table')
    .argument('<keys...>', 'the keys')
    .option('--hex', 'keys and values are in hexadecimal')
    .option('--internal', "the table is a database's: the newest version of each user key, absent if it is deleted")
    .addHelpText(
      'after',
      `
Examples:
  bloom get capitals.ldb France
  bloom get capitals.ldb France Japan Peru
  bloom get --hex table.ldb 00ff68656c6c6f
  bloom get 000005.ldb --internal user/42
  bloom get capitals.ldb -- -starts-with-a-dash`,
    )
    .action(get);
}

async function get(path: string, texts: readonly string[], options: GetOptions): Promise<void> {
  const hex = options.hex === true;
  const keys = texts.map((text) => keyArgument(text, hex));
  const out = new ByteBuffer();

  async function print(valueOf: (key: Uint8Array) => Uint8Array | undefined): Promise<void> {
    for (const [i, key] of keys.entries()) {
      const value = valueOf(key);
      if (value === undefined) {
        await flush(out);
        note(`${texts[i]!}: not found`);
        process.exitCode = EXIT.absent;
        continue;
      }
      if (hex) out.hex(value);
      else out.bytes(value);
      out.byte(LF);
      await drain(out);
    }
    await flush(out);
  }

  if (options.internal) {
    await withDatabaseTable(path, {}, (table) =>
      print((key) => {
        const newest = table.get(key);
        return newest === undefined || newest.type === DELETION ? undefined : newest.value;
      }),
    );
    return;
  }
  await withTable(path, {}, (table) =>
    print(filtersOtherKeys(table) ? valuesByScan(table, keys) : (key) => table.get(key)),
  );
}

/**
 * Looks `keys` up by going through the whole table. In the tables of a database neither filter nor order are of the
 * keys as they are stored.
 */
function valuesByScan(table: SyncTable, keys: readonly Uint8Array[]): (key: Uint8Array) => Uint8Array | undefined {
  const idOf = (key: Uint8Array): string => Buffer.from(key).toString('latin1');
  const wanted = new Set(keys.map(idOf));
  const values = new Map<string, Uint8Array>();
  for (const [key, value] of table.entries()) {
    const id = idOf(key);
    if (wanted.has(id)) values.set(id, value);
  }
  return (key) => values.get(idOf(key));
}
