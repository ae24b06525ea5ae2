// large-handles.test.ts runs this in a separate process, because a read of gigabytes would end it. It reads the tables at the
// given paths in every way, and prints each outcome as a line of JSON.
import process from 'node:process';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { CorruptionError, SyncTable, Table } from '@bloom/sstable';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { utf8 } from './entries.js';

// More than the files have, and more than Node reads in one call, so that only maxBlockBytes limits the reads.
const options = { maxBlockBytes: 2 ** 22, tailBytes: 2 ** 40, readAheadBytes: 2 ** 40, gapBytes: 2 ** 40 };
const keys = ['a', 'b'].map(utf8);

const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

for (const path of process.argv.slice(2)) {
  const outcomes: Record<string, unknown> = {};
  const attempt = async (name: string, run: () => unknown): Promise<void> => {
    try {
      outcomes[name] = await run();
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      const { code, structure, offset } = error;
      outcomes[name] = { code, structure, offset };
    }
  };
  const syncSource = SyncFileSource.open(path);
  await attempt('openSync', () => SyncTable.open(syncSource).filterStatus);
  await attempt('getSync', () => keys.map((key) => text(SyncTable.open(syncSource).get(key))));
  await attempt('keysSync', () => [...SyncTable.open(syncSource).keys()].map(text));
  const source = await FileSource.open(path);
  await attempt('open', async () => (await Table.open(source, options)).filterStatus);
  await attempt('get', async () => text(await (await Table.open(source)).get(keys[1]!)));
  await attempt('getMany', async () => (await (await Table.open(source, options)).getMany(keys)).map(text));
  for (const reverse of [false, true]) {
    await attempt(reverse ? 'keys reversed' : 'keys', async () => {
      const found: unknown[] = [];
      for await (const key of (await Table.open(source, options)).keys({ reverse })) found.push(text(key));
      return found;
    });
  }
  await source.close();
  syncSource.close();
  process.stdout.write(`${JSON.stringify({ path, outcomes, peak: peakMemory() })}\n`);
}
