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
  /** Does the last work on the folder, and then releases it, even if that fails. Meanwhile, attempts of this thread to hold the folder wait. */
  end(work: () => Promise<void>): Promise<void>;
}

/** The last work on folders, until the turn of the event loop after its end. */
const endings = new Set<{ readonly folder: WritableFolder; readonly ended: Promise<unknown> }>();

/** Resolves when the last work on a folder has ended; undefined if there is none. Of two objects for the same place, it may miss one. */
function endingOf(folder: WritableFolder): Promise<unknown> | undefined {
  const { name } = folder;
  return [...endings].find((ending) => ending.folder === folder || (name !== undefined && ending.folder.name === name))?.ended;
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
    const release = (): Promise<void> => runEnding(async () => pinned?.unpin(), () => lock?.release());
    return {
      folder: pinned ?? folder,
      release,
      end(work) {
        const ended = runEnding(work, release);
        const ending = { folder, ended: attempt(() => ended) };
        endings.add(ending);
        // An attempt that failed before looks for it after a turn.
        void ending.ended.then(turn).then(() => endings.delete(ending));
        return ended;
      },
    };
  } catch (error) {
    await attempt(() => lock?.release());
    throw error;
  }
}

async function lockOf(folder: WritableFolder): Promise<FolderLock> {
  if (folder.lock === undefined) throw new DatabaseError('BLOOM_NO_LOCK', "the folder cannot be locked: make sure that nobody else writes to it, and pass lock: 'none'");
  for (;;) {
    try {
      return await folder.lock();
    } catch (error) {
      // The holder may be in this process. A caller that retries at once would never let it continue.
      await turn();
      const ending = endingOf(folder);
      if (ending === undefined) throw error;
      await ending;
    }
  }
}
