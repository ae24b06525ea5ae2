// The findings of a program that has a level in a folder. They are the same as a CommonJS module, as an ES module, and in a bundle of either kind.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BloomLevel, LevelError } from '@bloom/level';

const ENTRIES = 20_000;

export interface LevelFindings {
  readonly got: unknown;
  readonly keys: number;
  /** The code of the error when the folder is opened again; `LEVEL_IO_ERROR` when it could not be locked. */
  readonly lock: string;
  readonly isLevelError: boolean;
}

const keyOf = (i: number): string => `key ${String(i).padStart(8, '0')}`;

export async function levelFindings(): Promise<LevelFindings> {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-level-'));
  const location = join(folder, 'database');
  const options = { valueEncoding: 'json', writeBufferSize: 2 ** 18 } as const;
  try {
    let level = new BloomLevel<string, unknown>(location, options);
    let problem = await level.open().catch(causeOf);
    // Without an add-on.
    if (problem !== undefined) {
      level = new BloomLevel<string, unknown>(location, { ...options, lock: 'none' });
      await level.open();
    } else {
      problem = await new BloomLevel(location).open().catch(causeOf);
    }
    await level.batch(Array.from({ length: ENTRIES }, (_, i) => ({ type: 'put', key: keyOf((i * 7919) % ENTRIES), value: { i } })));
    await level.put(keyOf(7), { to: 'world' });
    await level.del(keyOf(8));
    await level.compactRange(keyOf(0), keyOf(ENTRIES));
    const got = await level.get(keyOf(7));
    const keys = (await level.keys().all()).length;
    await level.close();
    return { got, keys, lock: (problem as LevelError).code, isLevelError: problem instanceof LevelError };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function causeOf(error: unknown): unknown {
  return (error as Error).cause;
}
