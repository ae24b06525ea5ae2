import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Readable } from 'node:stream';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { DatabaseReader, type FolderFile, SyncDatabaseReader } from '@bloom/leveldb';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, test } from 'vitest';
import { collect } from '../collect.js';
import { bundledProgram } from '../bundled-program.js';
import { checkCounted } from '../counted-state.js';

// Another process writes counts (see Count in tooling/native/src/leveldb-database.cc, and count-writer.mjs and
// count-database.ts). After each batch the database has exactly one valid state. Meanwhile, readers open and refresh, and the
// tests detect states that never existed.

// tooling/long-tests has a run of a minute.
const seconds = Number(process.env.BLOOM_LIVE_SECONDS ?? 2);
/** Operations of one batch of a counting writer. */
const OPERATIONS = 4;

/** A folder whose logs take some milliseconds to read. */
class SlowFolder extends NodeFolder {
  override async open(name: string): Promise<FolderFile | undefined> {
    const file = await super.open(name);
    if (file === undefined || !name.endsWith('.log')) return file;
    return {
      byteLength: file.byteLength,
      name,
      read: async (offset, length) => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        return file.read(offset, length);
      },
      close: () => file.close?.(),
    };
  }
}

interface Writer {
  /** The last count that the writer reported as written. */
  written(): number;
  ended: Promise<unknown>;
  isRunning(): boolean;
}

function follow(child: { readonly stdout: Readable; readonly exitCode: number | null; once(event: 'exit', listener: () => void): unknown }): Writer {
  let written = 0;
  createInterface({ input: child.stdout }).on('line', (line) => (written = Number(line)));
  return { written: () => written, ended: new Promise<void>((resolve) => child.once('exit', resolve)), isRunning: () => child.exitCode === null };
}

interface Outcome {
  opens: number;
  refreshes: number;
  restarts: number;
  states: number;
  problems: string[];
}

async function watch(path: string, writer: Writer): Promise<Outcome> {
  const outcome: Outcome = { opens: 0, refreshes: 0, restarts: 0, states: 0, problems: [] };
  let highest = 0;
  const see = (entries: readonly (readonly [Uint8Array, Uint8Array])[], atLeast: number, who: string, lastSequence?: bigint): number => {
    const { count, problem } = checkCounted(entries);
    const claimed = lastSequence === undefined ? count : Number(lastSequence) / OPERATIONS;
    if (claimed !== count) outcome.problems.push(`${who} sees ${count}, and its last sequence is that of ${claimed}`);
    outcome.states++;
    if (problem !== undefined) outcome.problems.push(`${who} ${problem}`);
    if (count < atLeast) outcome.problems.push(`${who} sees ${count}, and ${atLeast} were written before`);
    highest = Math.max(highest, count);
    return count;
  };

  // One long-lived reader of each kind. The asynchronous one refreshes in the middle of a walk, and reads logs slowly, so that
  // much is written between its reads.
  const lasting = await DatabaseReader.open(new SlowFolder(path));
  const lastingSync = SyncDatabaseReader.open(new SyncNodeFolder(path));
  let lastSeen = see(await collect(lasting.entries()), 0, 'opened slowly', lasting.lastSequence);
  while (writer.isRunning() || outcome.opens === 0) {
    const atLeast = writer.written();
    const database = await DatabaseReader.open(new NodeFolder(path));
    outcome.opens++;
    see(await collect(database.entries()), atLeast, 'opened', database.lastSequence);
    outcome.restarts += database.stats.restarts;
    await database.close();

    const sync = SyncDatabaseReader.open(new SyncNodeFolder(path));
    outcome.opens++;
    const seen = see([...sync.entries()], atLeast, 'opened without promises', sync.lastSequence);
    see([...sync.entries({ reverse: true })].reverse(), seen, 'backwards');
    outcome.restarts += sync.stats.restarts;

    const walk = lasting.entries();
    const first = await walk.next();
    const hasChanged = await lasting.refresh();
    lastingSync.refresh();
    outcome.refreshes += 2;
    const refreshed = see(await collect(lasting.entries()), atLeast, 'refreshed', lasting.lastSequence);
    if (hasChanged !== (refreshed !== lastSeen)) outcome.problems.push(`refresh gives ${hasChanged} from ${lastSeen} to ${refreshed}`);
    lastSeen = refreshed;
    see([...lastingSync.entries()], atLeast, 'refreshed without promises', lastingSync.lastSequence);
    // A walk that was begun before the refresh continues with the old state.
    const rest = await collect({ [Symbol.asyncIterator]: () => walk });
    see([...(first.done === true ? [] : [first.value]), ...rest], 0, 'begun before a refresh');

    // A reader that was opened earlier still shows the same state.
    const again = see([...sync.entries()], seen, 'looked at again');
    if (again !== seen) outcome.problems.push(`a view went from ${seen} to ${again}`);
    sync.close();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writer.ended;
  await lasting.refresh();
  see(await collect(lasting.entries()), writer.written(), 'at the end', lasting.lastSequence);
  outcome.restarts += lasting.stats.restarts + lastingSync.stats.restarts;
  await lasting.close();
  lastingSync.close();
  return outcome;
}

async function whileWriting(start: (path: string) => Parameters<typeof follow>[0]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-live-'));
  const path = join(folder, 'database');
  try {
    const writer = follow(start(path));
    while (writer.written() === 0 && writer.isRunning()) await new Promise((resolve) => setTimeout(resolve, 20));
    const outcome = await watch(path, writer);
    const { opens, refreshes, restarts, states } = outcome;
    process.stderr.write(`${seconds} s, ${writer.written()} batches: ${opens} opens, ${refreshes} refreshes, ${restarts} restarts, ${states} states seen\n`);
    expect(outcome.problems.slice(0, 10)).toEqual([]);
    expect(opens).toBeGreaterThan(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('while another process writes', () => {
  const native = nativeDatabase();
  if (native === undefined) test.skip(`LevelDB itself does not write: ${nativeUnavailableReason()?.split('\n')[0] ?? ''}`, () => {});
  test.runIf(native !== undefined)(
    'LevelDB: every opening and every refresh shows a state that existed and is not older than the last reported count',
    () => whileWriting((path) => native!.startCounting(path, seconds)),
    (seconds + 120) * 1000,
  );

  test(
    'classic-level: every opening and every refresh shows a state that existed and is not older than the last reported count',
    () =>
      whileWriting((path) => {
        const program = fileURLToPath(new URL('../count-writer.mjs', import.meta.url));
        return spawn(process.execPath, [program, path, String(seconds)], { stdio: ['ignore', 'pipe', 'inherit'] });
      }),
    (seconds + 120) * 1000,
  );

  test(
    'Database: every opening and every refresh shows a state that existed and is not older than the last reported count',
    async () => {
      const program = await bundledProgram('count-database.ts');
      try {
        await whileWriting((path) => spawn(process.execPath, [program, path, String(seconds), '64'], { stdio: ['ignore', 'pipe', 'inherit'] }));
      } finally {
        rmSync(dirname(program), { recursive: true, force: true });
      }
    },
    (seconds + 120) * 1000,
  );
});
