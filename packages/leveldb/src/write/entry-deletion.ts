import { runAsync } from '../folder/folder-reading.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { WriteBatch } from '../format/write-batch.js';
import { DatabaseCursor } from '../read/database-cursor.js';
import { OpenState } from '../read/open-state.js';
import type { View } from '../read/view.js';

/** Bytes of the keys that are deleted with one write. */
const DELETED_BYTES = 64 * 2 ** 10;

/** Deletes each entry that is visible in a view. @param write is awaited before the batch that it was given changes. */
export async function deleteEntries(view: View, folder: WritableFolder, write: (batch: WriteBatch) => Promise<void>): Promise<void> {
  // With a state of its own: closing the database waits for the writes.
  const cursor = new DatabaseCursor(view, view.cursor(view.lastSequence, false), new OpenState('database'), (reading, signal) => runAsync(folder, reading, signal));
  const batch = new WriteBatch();
  try {
    let isOnEntry = await cursor.seekToFirst();
    while (isOnEntry) {
      batch.clear().delete(cursor.key);
      isOnEntry = await cursor.nextWhile(({ key }) => {
        if (batch.byteLength >= DELETED_BYTES) return false;
        batch.delete(key);
        return true;
      });
      await write(batch);
    }
  } finally {
    cursor.close();
  }
}
