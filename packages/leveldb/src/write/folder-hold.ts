import { attempt, runEnding } from '../folder/closing-files.js';
import { DatabaseError } from '../folder/database-error.js';
import { turn } from '../folder/pacer.js';
import type { FolderLock, WritableFolder } from '../folder/writable-folder.js';
import type { EventSink } from './database-event.js';

/** A folder that is locked and pinned until it is released. */
export interface FolderHold {
  /** The folder to work on: its operations fail once another folder has taken its place. */
  readonly folder: WritableFolder;
  release(): Promise<void>;
}

/** Whether to lock a folder, and the listener that receives the limits of the lock. */
export interface HoldSettings {
  readonly locks: boolean;
  readonly onEvent: EventSink;
}

/** Locks a folder, unless `locks` is false, and pins it. */
export async function holdFolder(folder: WritableFolder, { locks, onEvent }: HoldSettings): Promise<FolderHold> {
  const lock = locks ? await lockOf(folder) : undefined;
  if (lock?.limits !== undefined) onEvent?.({ kind: 'lock-limited', message: lock.limits });
  try {
    const pinned = await folder.pin?.();
    return {
      folder: pinned ?? folder,
      async release() {
        await runEnding(async () => pinned?.unpin(), () => lock?.release());
      },
    };
  } catch (error) {
    await attempt(() => lock?.release());
    throw error;
  }
}

async function lockOf(folder: WritableFolder): Promise<FolderLock> {
  if (folder.lock === undefined) throw new DatabaseError('BLOOM_NO_LOCK', "the folder cannot be locked: make sure that nobody else writes to it, and pass lock: 'none'");
  try {
    return await folder.lock();
  } catch (error) {
    // The holder may be in this process. A caller that retries at once would never let it continue.
    await turn();
    throw error;
  }
}
