import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { nativeDatabase } from '@bloom/native';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledProgram } from '../bundled-program.js';
import { collect } from '../collect.js';
import { checkCounted } from '../counted-state.js';

// tooling/long-tests has a run of 300.
const kills = Number(process.env.BLOOM_WRITER_KILLS ?? 5);
/** After this many kills, a new folder is used. */
const KILLS_PER_FOLDER = 50;

let source: string;
let built: string;
beforeAll(async () => {
  source = await bundledProgram('count-database.ts');
  built = await bundledProgram('count-database.ts', undefined, 'built');
});
afterAll(() => {
  for (const program of [source, built]) rmSync(dirname(program), { recursive: true, force: true });
});

test.each([
  { what: 'with small tables', programOf: () => source, ballast: '600' },
  { what: 'with a worker thread that writes its tables', programOf: () => built, ballast: '20000' },
])('a killed process loses no acknowledged write, leaves only whole batches, and the database can be written again, $what', async ({ programOf, ballast, what }) => {
  const program = programOf();
  const random = seeded(13);
  const native = nativeDatabase();
  const files = mkdtempSync(join(tmpdir(), 'bloom-kills-'));
  let written = 0;
  let most = 0;
  let inOpening = 0;
  try {
    for (let kill = 0; kill < kills; kill++) {
      const folder = join(files, String(Math.floor(kill / KILLS_PER_FOLDER)));
      if (kill % KILLS_PER_FOLDER === 0) most = 0;
      const child = spawn(process.execPath, [program, folder, '60', '1', ballast], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('latin1').on('data', (text: string) => (output += text));
      const closed = once(child, 'close');
      // One process in four is killed while it starts, when it opens the database and turns logs into tables.
      if (random.below(4) > 0) await Promise.race([once(child.stdout, 'data'), closed]);
      await new Promise((resolve) => setTimeout(resolve, random.below(random.below(3) === 0 ? 400 : 120)));
      child.kill('SIGKILL');
      const [, signal] = (await closed) as [number | null, string | null];
      expect(signal, output.slice(-200)).toBe('SIGKILL');
      // The last line may be incomplete.
      const acknowledged = Number(output.split('\n').at(-2) ?? 0);
      if (acknowledged === 0) inOpening++;

      if (acknowledged === 0 && most === 0) continue;
      const reader = await DatabaseReader.open(new NodeFolder(folder));
      const { count, problem } = checkCounted(await collect(reader.entries()));
      await reader.close();
      expect(problem).toBeUndefined();
      // A killed process loses no earlier batches and no acknowledged ones, whether they were synced or not.
      expect(count).toBeGreaterThanOrEqual(Math.max(most, acknowledged));
      written += count - most;
      most = count;
      if (kill % 10 === 9) {
        expect((await verifyDatabase(new NodeFolder(folder))).findings).toEqual([]);
        if (native === undefined) continue;
        const { status, entries } = native.dump(folder, { paranoid: true, bitsPerKey: 10 });
        expect(status).toBe('OK');
        expect(checkCounted(entries)).toEqual({ count, problem: undefined });
      }
    }
    const last = await Database.open(new WritableNodeFolder(join(files, String(Math.floor((kills - 1) / KILLS_PER_FOLDER)))));
    expect(checkCounted(await collect(last.entries()))).toEqual({ count: most, problem: undefined });
    await last.close();
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
  process.stderr.write(`${what}: ${kills} kills, ${inOpening} of them before the first write; ${written} batches were written\n`);
  expect(written).toBeGreaterThan(kills * 10);
}, 60_000 + kills * 10_000);
