import { type Random, seeded } from '@bloom/fixtures';
import { Database, type DatabaseOptions, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { asMap, entriesOf, small } from './some-database.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A folder that remembers the files that are deleted from it. */
export class RememberingFolder extends WritableMemoryFolder {
  readonly deleted = new Map<string, Uint8Array>();

  override delete(name: string): void {
    const bytes = this.files().get(name);
    super.delete(name);
    if (bytes !== undefined) this.deleted.set(name, bytes);
  }
}

/** The files of a database, the entries that it has, and the obsolete files that its writer deleted. */
export interface DatabaseWithLeftovers {
  readonly files: Map<string, Uint8Array>;
  readonly entries: Map<string, string>;
  readonly obsolete: ReadonlyMap<string, Uint8Array>;
}

/** A random database of several levels, most of whose keys were deleted and compacted away. */
export async function databaseWithLeftovers(seed: number): Promise<DatabaseWithLeftovers> {
  const random = seeded(seed);
  const folder = new RememberingFolder();
  const options: DatabaseOptions = {
    ...small,
    compression: random.below(2) === 0 ? 'none' : 'snappy',
    blockSize: 1024 << random.below(3),
    reuseLogs: random.below(3) === 0,
    createIfMissing: true,
  };
  let database = await Database.open(folder, options);
  const steps = 60 + random.below(120);
  for (let step = 0; step < steps; step++) {
    await database.write(randomBatch(random));
    if (random.below(12) === 0) await database.flush();
    if (random.below(20) === 0) await database.compactRange();
    if (random.below(25) === 0) {
      await database.close();
      database = await Database.open(folder, options);
    }
  }
  const isClosed = random.below(2) === 0;
  if (isClosed) await database.close();
  else await database.idle();
  // What a process that was killed now leaves.
  const files = folder.files();
  const entries = asMap(await entriesOf(new WritableMemoryFolder(files)));
  const obsolete = new Map([...folder.deleted].filter(([name]) => !files.has(name) && /^MANIFEST|\.(ldb|log)$/.test(name)));
  if (!isClosed) await database.close();
  return { files, entries, obsolete };
}

function randomBatch(random: Random): WriteBatch {
  const batch = new WriteBatch();
  const isErasing = random.below(3) === 0;
  for (let i = random.below(40); i >= 0; i--) {
    const key = utf8(`key${random.below(200)}`);
    if (isErasing || random.below(4) === 0) batch.delete(key);
    else batch.put(key, random.bytes(random.below(200)));
  }
  return batch;
}
