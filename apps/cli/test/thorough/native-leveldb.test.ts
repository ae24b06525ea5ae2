import { cpSync } from 'node:fs';
import { entriesSha256, formatKv, type GoldenDatabase, goldenDatabases, type KeyValue, parseKv } from '@bloom/fixtures';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { ClassicLevel } from 'classic-level';
import { describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { REVERSE_MODULE, Scratch } from '../bloom-process.js';

// LevelDB itself reads every golden folder after `bloom` has written to it.
const scratch = new Scratch();
const native = nativeDatabase();

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`cannot open what bloom wrote with LevelDB itself: ${reason}`, () => {});
}

const REVERSE = scratch.write('reverse.mjs', REVERSE_MODULE);

/** What `put` and `load` write. The values of `load` fill several tables, with a small block and another codec. */
const LOADED: readonly (readonly [string, string])[] = Array.from({ length: 300 }, (_, i) => [`loaded/${String(i * 37).padStart(6, '0')}`, `value ${i} `.repeat(i % 40)]);
const PUT: readonly [string, string] = ['put-by-bloom', 'a value'];

class Folder {
  readonly name: string;
  readonly #golden: GoldenDatabase;
  readonly #options: readonly string[];

  constructor(golden: GoldenDatabase) {
    this.name = `golden-${golden.name}`;
    this.#golden = golden;
    this.#options = golden.comparator === undefined ? [] : ['--comparator', `./${REVERSE}`];
    cpSync(golden.path, scratch.at(this.name), { recursive: true });
  }

  /** Runs a command, which must succeed without notes. */
  async run(command: string, args: readonly string[], { input, codes = [0], options = this.#options }: { input?: Uint8Array; codes?: readonly number[]; options?: readonly string[] } = {}): Promise<Buffer> {
    const { code, stdout, stderr } = await bloom([command, ...args, ...options], scratch.path, input);
    expect(codes, `${command}: ${stderr}`).toContain(code);
    return stdout;
  }

  /** The entries that LevelDB finds in a copy of the folder, since LevelDB changes what it opens. */
  async expectInLevelDb(entries: readonly KeyValue[], step: string, name = this.name): Promise<void> {
    const copy = scratch.at(`${name}-${step}`);
    cpSync(scratch.at(name), copy, { recursive: true });
    const isReverse = this.#golden.comparator !== undefined;
    const { status, entries: theirs } = native!.dump(copy, { comparator: isReverse ? 'reverse' : 'bytewise', bitsPerKey: 10, paranoid: true });
    expect({ step, status, entries: theirs.length, sha256: entriesSha256(theirs) }).toEqual({ step, status: 'OK', entries: entries.length, sha256: entriesSha256(entries) });
    // Looked up with the filters that `bloom` wrote.
    const keys = entries.slice(0, 400).map(([key]) => key);
    const values = native!.get(copy, keys, { comparator: isReverse ? 'reverse' : 'bytewise', bitsPerKey: 10 });
    expect(values.map((value) => value && Buffer.from(value).toString('hex'))).toEqual(entries.slice(0, 400).map(([, value]) => Buffer.from(value).toString('hex')));
    if (!isReverse) expect(entriesSha256(await inClassicLevel(copy))).toBe(entriesSha256(entries));
  }

  /** Entries in the order of the folder. */
  ordered(entries: Iterable<readonly [string, Uint8Array]>): KeyValue[] {
    const sign = this.#golden.comparator === undefined ? 1 : -1;
    return [...entries].map(([key, value]): KeyValue => [Buffer.from(key, 'latin1'), value]).sort(([a], [b]) => sign * Buffer.compare(a, b));
  }
}

async function inClassicLevel(path: string): Promise<KeyValue[]> {
  const database = new ClassicLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view', createIfMissing: false });
  await database.open();
  try {
    return await database.iterator().all();
  } finally {
    await database.close();
  }
}

describe.runIf(native !== undefined)('LevelDB reads the golden folder', () => {
  test.each(goldenDatabases())('$name after bloom has written to it', async (golden) => {
    const folder = new Folder(golden);
    const { name } = folder;
    // A folder with damage can be written to when it is repaired.
    if (golden.damage !== undefined) await folder.run('repair', [name], { codes: [0, 1] });
    // Repair keeps the tables whose blocks are damaged.
    const isStillDamaged = golden.repair?.scan !== undefined;
    const before = parseKv(await folder.run('scan', [name, '-f', 'kv', ...(isStillDamaged ? ['--damage', 'skip'] : [])]));
    if (isStillDamaged) {
      await folder.run('salvage', [name, '-o', `${name}.ldb`], { codes: [0, 1] });
      await folder.run('destroy', ['--yes', name], { options: [] });
      await folder.run('load', [name, '-', '-f', 'kv', '-q'], { input: await folder.run('scan', [`${name}.ldb`, '-f', 'kv']) });
    }

    const expected = new Map(before.map(([key, value]) => [Buffer.from(key).toString('latin1'), value]));
    const gone = before.filter((_, i) => i % 3 === 1).map(([key]) => Buffer.from(key).toString('hex'));
    for (const [key, value] of [PUT, ...LOADED]) expected.set(key, Buffer.from(value));
    for (const key of gone) expected.delete(Buffer.from(key, 'hex').toString('latin1'));

    await folder.run('put', [name, ...PUT]);
    if (gone.length > 0) await folder.run('delete', [name, '--hex', ...gone]);
    await folder.run('load', [name, '-', '-f', 'kv', '-q', '--block-size', '1K'], { input: formatKv(LOADED.map(([key, value]) => [Buffer.from(key), Buffer.from(value)])) });
    const entries = folder.ordered(expected);
    await folder.expectInLevelDb(entries, 'written');
    await folder.run('compact', [name, '-q']);
    await folder.expectInLevelDb(entries, 'compacted');
    await folder.run('copy', [name, `${name}-copy`, '-q'], { options: [] });
    await folder.expectInLevelDb(entries, 'copied', `${name}-copy`);
    await folder.run('repair', [name]);
    await folder.expectInLevelDb(entries, 'repaired');
  });
});

