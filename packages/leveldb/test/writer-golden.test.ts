import { createHash } from 'node:crypto';
import { type WriterStep, writerSteps } from '@bloom/fixtures';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { Script } from './script.js';

// LevelDB 1.23 ran the script golden-db/writer.ops, and its folder was kept after each step.

function filesOf(folder: WritableMemoryFolder): WriterStep['files'] {
  return [...folder.files()]
    .map(([name, bytes]) => ({ name, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

test('writes the same files as LevelDB 1.23, byte for byte, after each step of the script', async () => {
  const folder = new WritableMemoryFolder();
  const script = new Script(folder, { filterPolicy: null, compression: 'none' });
  for (const { name, operations, files } of writerSteps()) {
    for (const [operation, ...tokens] of operations) await script.run(operation!, ...tokens);
    expect(filesOf(folder), name).toEqual(files);
  }
});
