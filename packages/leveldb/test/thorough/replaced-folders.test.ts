import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type Random, seeded } from '@bloom/fixtures';
import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase } from '../assemble-database.js';

// Readers with few and with many open tables, beside a folder whose files are replaced at random. tooling/long-tests has a run of
// many minutes.
const runs = Number(process.env.BLOOM_REPLACED_FOLDERS ?? 2);
const steps = Number(process.env.BLOOM_REPLACED_STEPS ?? 40);
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const TABLES = 8;

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'bloom-replaced-'));
});
afterAll(() => rmSync(path, { recursive: true, force: true }));

const keys = Array.from({ length: TABLES + 2 }, (_, i) => utf8(`key ${i}`));

/** A database whose values are all `value`, in tables and a log. Those of one shape have the same MANIFEST, byte for byte. */
function databaseOf(value: string, shape: number): Map<string, Uint8Array> {
  const filler = 'x'.repeat(100 * shape);
  const put = (i: number) => ({ key: keys[i]!, sequence: i + 1, value: utf8(`${value} ${filler}`) });
  const files = assembleDatabase({
    tables: Array.from({ length: TABLES }, (_, i) => ({ level: i % 3 === 0 ? 0 : 1, number: 2 + i + (shape === 3 ? 20 : 0), versions: [put(i)] })),
    logs: [{ number: 60, batches: [TABLES, TABLES + 1].map((i) => ({ sequence: i + 1, operations: [[keys[i]!, put(i).value]] as const })) }],
    lastSequence: 100,
  });
  if (shape !== 2) return files;
  const manifest = files.get('MANIFEST-000001')!;
  files.delete('MANIFEST-000001');
  return files.set('MANIFEST-000009', manifest).set('CURRENT', utf8('MANIFEST-000009\n'));
}

function writeAll(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

/** The ways in which another database can take the place of the one in `folder`. */
const replacements: readonly ((folder: string, other: string) => void)[] = [
  (folder, other) => {
    renameSync(folder, `${other}-away`);
    renameSync(other, folder);
  },
  (folder, other) => {
    rmSync(folder, { recursive: true });
    renameSync(other, folder);
  },
  // In place, and with the old times.
  (folder, other) => {
    for (const name of readdirSync(folder)) {
      if (!readdirSync(other).includes(name)) {
        rmSync(join(folder, name));
        continue;
      }
      const { atime, mtime } = statSync(join(folder, name));
      copyFileSync(join(other, name), join(folder, name));
      utimesSync(join(folder, name), atime, mtime);
    }
    cpSync(other, folder, { recursive: true, force: false });
  },
  (folder, other) => {
    for (const name of readdirSync(folder)) if (!readdirSync(other).includes(name)) rmSync(join(folder, name));
    cpSync(other, folder, { recursive: true });
  },
  // File by file, each at once.
  (folder, other) => {
    for (const name of readdirSync(other)) renameSync(join(other, name), join(folder, name));
  },
];

async function run(random: Random): Promise<{ readonly answers: number; readonly changed: number }> {
  const folder = join(path, `run-${random.below(2 ** 30)}`);
  let generation = 0;
  let shape = 1;
  const next = (): string => String(++generation).padStart(6, '0');
  let present = next();
  writeAll(folder, databaseOf(present, shape));
  const readers = await Promise.all([11, 12, 15, 1000].map((maxOpenFiles) => DatabaseReader.open(new NodeFolder(folder), { maxOpenFiles, cache: null })));
  const shown = readers.map(() => present);
  let answers = 0;
  let changed = 0;

  /** Answers of a reader: those of the state that it shows, or that the folder has changed. */
  const look = async (i: number, mayHaveChanged: boolean): Promise<void> => {
    const asked = [...keys].sort(() => random.below(3) - 1);
    for (const answer of [
      ...(await Promise.all(asked.map((key) => readers[i]!.get(key).catch((error: unknown) => error)))),
      ...(await readers[i]!.getMany(asked).catch((error: unknown) => [error])),
    ]) {
      if (answer instanceof Error) {
        expect(answer).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
        expect(mayHaveChanged).toBe(true);
        changed++;
      } else {
        expect(text(answer as Uint8Array)?.split(' ')[0]).toBe(shown[i]);
        answers++;
      }
    }
  };

  for (let step = 0; step < steps; step++) {
    const what = random.below(4);
    if (what === 0) {
      // A table is cut, looked at, and whole again.
      const tables = readdirSync(folder).filter((name) => name.endsWith('.ldb'));
      const file = join(folder, tables[random.below(tables.length)]!);
      const bytes = readFileSync(file);
      truncateSync(file, random.below(bytes.length));
      for (const [i, reader] of readers.entries()) {
        await reader.get(keys[random.below(keys.length)]!).catch((error: unknown) => expect(error).toMatchObject({ code: expect.stringMatching(/^BLOOM_(FOLDER_CHANGED|TRUNCATED)$/) as string }));
        if (random.below(2) === 0) continue;
        try {
          await reader.refresh();
          shown[i] = present;
        } catch (error) {
          expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED' });
        }
      }
      writeFileSync(file, bytes);
    } else {
      const other = join(path, `other-${random.below(2 ** 30)}`);
      if (random.below(3) === 0) shape = 1 + random.below(3);
      present = next();
      writeAll(other, databaseOf(present, shape));
      replacements[random.below(replacements.length)]!(folder, other);
    }
    if (random.below(3) === 0) await new Promise((resolve) => setTimeout(resolve, random.below(80)));
    for (const i of readers.keys()) {
      await look(i, true);
      if (random.below(4) === 0) continue;
      const before = shown[i];
      const told = await readers[i]!.refresh();
      shown[i] = present;
      if (before !== present) expect(told).toBe(true);
      await look(i, false);
    }
  }
  for (const [i, reader] of readers.entries()) {
    await reader.refresh();
    shown[i] = present;
    await look(i, false);
    expect(await reader.refresh()).toBe(false);
    await reader.close();
  }
  return { answers, changed };
}

describe('a folder whose files are replaced at random', () => {
  test(`gives answers of one state at a time in each of ${runs} runs, and of the present one after refresh`, { timeout: 60_000 + runs * 20_000 }, async () => {
    let answers = 0;
    let changed = 0;
    for (let i = 0; i < runs; i++) {
      const outcome = await run(seeded(1 + i));
      answers += outcome.answers;
      changed += outcome.changed;
    }
    process.stderr.write(`${runs} runs: ${answers} answers, ${changed} times "the folder changed"\n`);
    expect(answers).toBeGreaterThan(runs * steps);
  });
});
