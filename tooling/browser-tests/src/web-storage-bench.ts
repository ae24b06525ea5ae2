// Measures the processor time of reading records of IndexedDB: `npx pnpm@10 --filter @bloom/browser-tests web-storage-bench`.
//
// 100,000 records of 1 kB are read, each in a process of its own, in rounds that alternate with two readers in Python; and the values alone
// are decoded by decodeValue and by v8.deserialize, in one process, in rounds that alternate.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { deserialize, serialize } from 'node:v8';
import { Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { seeded } from '@bloom/bytes/internal';
import { decodeValue, encodeKey, IndexedDbReader } from '@bloom/web-storage';
import { installPythonReaders, timeWithPython } from './python-readers.js';

const RECORDS = Number(process.env.BLOOM_BENCH_RECORDS ?? 100_000);
const ROUNDS = Number(process.env.BLOOM_BENCH_ROUNDS ?? 3);
const PEERS = ['dfindexeddb', 'chromium-reader'] as const;
/** Blink's envelope of version 20, the last one that both peers read, and what follows it is version 15 of V8's format. */
const ENVELOPE = [0xff, 20];
/** How often the values alone are decoded. */
const VALUE_ROUNDS = 15;

const random = seeded(1);
const words = Array.from({ length: 500 }, () => Array.from({ length: 3 + random.below(7) }, () => String.fromCharCode(97 + random.below(26))).join(''));
const text = (count: number): string => Array.from({ length: count }, () => random.pick(words)).join(' ');

/** A record of about 1 kB, of types that all readers read: chromium-reader loses its place after an array. */
function note(id: number): object {
  const author = { name: text(2), mail: `${random.pick(words)}@example.com`, age: random.below(90) };
  const sizes = { width: random.below(4000), height: random.below(4000), ratio: random.below(1000) / 7 };
  return { id, title: text(5), created: new Date(1.6e12 + random.uint32()), isDone: random.below(2) === 0, author, sizes, parent: null, text: text(105) };
}

/** Reads the records in this process. @returns their number, and the processor time in seconds. */
async function ownTime(path: string): Promise<[number, number]> {
  const start = process.cpuUsage();
  const reader = await IndexedDbReader.open(new NodeFolder(path));
  let count = 0;
  for await (const { error } of reader.records({ id: 1 }, { id: 1, keyPath: undefined, autoIncrement: false })) if (error === undefined) count++;
  await reader.close();
  const { user, system } = process.cpuUsage(start);
  return [count, (user + system) / 1e6];
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;
const print = (line: string): unknown => process.stdout.write(`${line}\n`);

if (process.argv[2] === 'read') print((await ownTime(process.argv[3]!)).join(' '));
else await compare();

async function compare(): Promise<void> {
  const values = Array.from({ length: RECORDS }, (_, i) => new Uint8Array(serialize(note(i))));
  print(`${RECORDS} records of ${Math.round(values.reduce((sum, { length }) => sum + length, 0) / RECORDS)} bytes, Node ${process.version}`);
  compareValues(values.slice(0, 20_000));
  const folder = mkdtempSync(join(tmpdir(), 'bloom-bench-'));
  try {
    await writeRecords(folder, values);
    const problem = installPythonReaders();
    if (problem !== undefined) throw new Error(problem);
    const times = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of ['@bloom/web-storage', ...PEERS] as const) {
        const [count, seconds] = name === '@bloom/web-storage' ? inNewProcess(folder) : timeWithPython(name, folder);
        if (count !== RECORDS) throw new Error(`${name} read ${count} records`);
        times.set(name, [...(times.get(name) ?? []), seconds]);
      }
    }
    const own = median(times.get('@bloom/web-storage')!);
    for (const [name, all] of times) print(`${name}: ${all.map((seconds) => seconds.toFixed(2)).join(', ')} s; ${(median(all) / own).toFixed(1)} times`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function inNewProcess(folder: string): [number, number] {
  const [count, seconds] = execFileSync(process.execPath, [...process.execArgv, import.meta.filename, 'read', folder], { encoding: 'utf8' }).split(' ').map(Number);
  return [count!, seconds!];
}

async function writeRecords(path: string, values: readonly Uint8Array[]): Promise<void> {
  const database = await Database.open(new WritableNodeFolder(path), { comparator: idbComparator, filterPolicy: idbFilterPolicy });
  for (const [i, value] of values.entries()) {
    await database.put(Uint8Array.from([0, 1, 1, 1, ...encodeKey(i)]), Uint8Array.from([1, ...ENVELOPE, ...value]));
  }
  await database.close();
}

/** Compares the decoders, both with the bytes that v8.serialize writes. */
function compareValues(values: readonly Uint8Array[]): void {
  const decoders = [(bytes: Uint8Array): unknown => decodeValue(bytes).value, (bytes: Uint8Array): unknown => deserialize(bytes)];
  const times = decoders.map((): number[] => []);
  for (let round = 0; round < VALUE_ROUNDS; round++) {
    for (const [i, decode] of decoders.entries()) {
      const start = process.cpuUsage();
      for (const bytes of values) decode(bytes);
      const { user, system } = process.cpuUsage(start);
      // The first rounds are before the compilers have seen the code.
      if (round >= 3) times[i]!.push((user + system) / values.length);
    }
  }
  const [own, native] = times.map(median) as [number, number];
  const ratios = times[0]!.map((time, i) => time / times[1]![i]!).sort((a, b) => a - b);
  print(`decodeValue ${own.toFixed(2)} µs, v8.deserialize ${native.toFixed(2)} µs a value; ratio ${median(ratios).toFixed(2)}, ${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}`);
}
