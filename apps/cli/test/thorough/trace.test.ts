import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath, goldenDatabases } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { encodeKey } from '@bloom/web-storage';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

beforeAll(async () => {
  cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, scratch.at('db'), { recursive: true });
  cpSync(join(dataPath('web-storage'), 'local-storage'), scratch.at('Local Storage/leveldb'), { recursive: true });
  await build('a.ldb', [], scratch.path, 'a\t1\n');
});

/** Commands that read, and what they read. */
const COMMANDS: readonly [args: readonly string[], inputs: readonly string[]][] = [
  [['get', 'a.ldb', 'db', '--', 'a'], ['a.ldb', 'db']],
  [['get', '--decode', 'Local Storage/leveldb', 'a'], ['Local Storage/leveldb']],
  [['scan', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['scan', '--all-versions', 'db'], ['db']],
  [['scan', '--all-versions', '--live', 'db'], ['db']],
  [['scan', '--decode', 'Local Storage/leveldb'], ['Local Storage/leveldb']],
  [['scan', '--decode', '--all-versions', 'Local Storage/leveldb'], ['Local Storage/leveldb']],
  [['find', 'a', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['find', '--decode', 'a', 'Local Storage/leveldb'], ['Local Storage/leveldb']],
  [['count', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['count', '--bytes', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['stat', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['verify', 'a.ldb', 'db'], ['a.ldb', 'db']],
  [['verify', '--any-order', 'db'], ['db']],
  [['layout', 'a.ldb', 'db/CURRENT'], ['a.ldb', 'db/CURRENT']],
  [['advise', 'filters', 'a.ldb'], ['a.ldb']],
  [['filter', 'test', 'a.ldb'], ['a.ldb']],
];

/** The words that name the command. */
function commandOf(args: readonly string[]): readonly string[] {
  return args.slice(0, ['advise', 'filter'].includes(args[0]!) ? 2 : 1);
}

/** The lines of --trace with their numbers of reads and bytes. */
async function traced(args: readonly string[]): Promise<{ readonly input: string; readonly reads: number; readonly bytes: number }[]> {
  const { stderr } = await bloom([...commandOf(args), '--trace', ...args.slice(commandOf(args).length)], scratch.path);
  return [...stderr.matchAll(/^bloom: (.*): ([\d,]+) reads?, ([\d,]+) bytes?/gm)].map(([, input, reads, bytes]) => ({ input: input!, reads: Number(reads!.replaceAll(',', '')), bytes: Number(bytes!.replaceAll(',', '')) }));
}

describe('--trace', () => {
  test.each(COMMANDS)('of %j prints what is read of each input', async (args, inputs) => {
    const lines = await traced(args);
    expect(lines.map(({ input }) => input)).toEqual(inputs);
    for (const { reads, bytes } of lines) expect(Math.min(reads, bytes)).toBeGreaterThan(0);
  });

  test('counts the reads of each input alone', async () => {
    for (const args of [['get', 'a.ldb', 'a.ldb', '--', 'b'], ['scan', 'a.ldb', 'a.ldb']]) {
      const [first, second] = await traced(args);
      expect(second).toEqual(first);
    }
  });

  test('counts the reads of values that are in files of their own', async () => {
    const key = encodeKey(7);
    const value = Uint8Array.of(0xff, 0x11, 0xff, 0x0d, 0x22, 1, 0x61);
    const folder = scratch.at('site.indexeddb.leveldb');
    const database = await Database.open(new WritableNodeFolder(folder), { comparator: idbComparator, filterPolicy: idbFilterPolicy });
    await database.put(Uint8Array.from([0, 1, 1, 1, ...key]), Uint8Array.of(1, 0xff, 0x11, 1, value.length, 0));
    await database.put(Uint8Array.from([0, 1, 1, 3, ...key]), Uint8Array.of(0, 5, 0, value.length));
    await database.close();
    for (const args of [['scan', '--decode', 'site.indexeddb.leveldb'], ['scan', '--decode', '--all-versions', 'site.indexeddb.leveldb'], ['get', '--decode', 'site.indexeddb.leveldb', '7']]) {
      rmSync(scratch.at('site.indexeddb.blob'), { recursive: true, force: true });
      const [without] = await traced(args);
      mkdirSync(scratch.at('site.indexeddb.blob/1/00'), { recursive: true });
      scratch.write('site.indexeddb.blob/1/00/5', value);
      expect((await bloom(args, scratch.path)).stdout.toString()).toMatch(/a\n$/);
      expect(await traced(args)).toEqual([{ input: 'site.indexeddb.leveldb', reads: without!.reads + 1, bytes: without!.bytes + value.length }]);
    }
  });

  test('is an option of no other command', async () => {
    const page = await bloomPrints(['completion', 'markdown'], scratch.path);
    const commands = page.split(/^### bloom /m).slice(1).filter((part) => part.includes('`--trace`')).map((part) => part.split('\n')[0]!);
    expect([...new Set(COMMANDS.map(([args]) => commandOf(args).join(' ')))].sort()).toEqual(commands.sort());
  });
});
