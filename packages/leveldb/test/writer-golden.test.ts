import { createHash } from 'node:crypto';
import { fromToken, type WriterStep, writerSteps } from '@bloom/fixtures';
import { Database, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { expect, test } from 'vitest';

// golden-db/writer.ops: LevelDB 1.23 ran this script, and its folder was kept after each step.

const options = { filterPolicy: null, compression: 'none' } as const;

/** Runs operations of a script on the database of a folder. */
class Script {
  readonly folder = new WritableMemoryFolder();
  #database: Database | undefined;
  #batch: WriteBatch | undefined;

  async run([operation, ...tokens]: readonly string[]): Promise<void> {
    const [key, value] = tokens.map(fromToken);
    switch (operation) {
      case 'open':
        this.#database = await Database.open(this.folder, { ...options, reuseLogs: tokens[0] === 'reuse' });
        break;
      case 'close':
        await this.#database!.close();
        break;
      case 'batch':
        this.#batch = new WriteBatch();
        break;
      case 'end':
        await this.#database!.write(this.#batch!);
        this.#batch = undefined;
        break;
      case 'put':
        if (this.#batch === undefined) await this.#database!.put(key!, value!);
        else this.#batch.put(key!, value!);
        break;
      case 'del':
        if (this.#batch === undefined) await this.#database!.delete(key!);
        else this.#batch.delete(key!);
        break;
      case 'flush':
        await this.#database!.flush();
        break;
      case 'compact':
        await this.#database!.compactRange();
        break;
      default:
        throw new Error(`unknown operation ${operation}`);
    }
  }
}

function filesOf(folder: WritableMemoryFolder): WriterStep['files'] {
  return [...folder.files()]
    .map(([name, bytes]) => ({ name, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

test('writes the files of LevelDB 1.23, byte for byte, after each step of its script', async () => {
  const script = new Script();
  for (const { name, operations, files } of writerSteps()) {
    for (const operation of operations) await script.run(operation);
    expect(filesOf(script.folder), name).toEqual(files);
  }
});
