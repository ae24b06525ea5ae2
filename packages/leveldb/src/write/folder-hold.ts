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
  /** Does the last work on the folder, then releases it, even if the work fails. Other calls of this thread for the folder wait until then. */
  end(work: () => Promise<void>): Promise<void>;
}

/** A call that locks a folder, or the last work before it is released. */
interface FolderCall {
  readonly folder: WritableFolder;
  /** The place of the folder, once it was needed. */
  place: string | undefined;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** The calls of this thread that have not ended. */
const calls = new Set<FolderCall>();

/** Those that are the last work on a folder. They stay for one more turn of the event loop after they have ended, because {@link lockOf} looks for them. */
const lastWork = new Set<FolderCall>();

/**
 * Those of `among` that are for a folder, and its place, if it was needed. Calls for the same folder usually have the same object or name, so the
 * place, for which some folders ask the system, is seldom needed.
 */
function callsFor(folder: WritableFolder, among: Iterable<FolderCall>): { found: FolderCall[]; place: string | undefined } {
  const { name } = folder;
  let place: string | undefined;
  const isSamePlace = (call: FolderCall): boolean => {
    place ??= folder.place?.();
    return place !== undefined && place === (call.place ??= call.folder.place?.());
  };
  const found = [...among].filter((call) => call.folder === folder || (name !== undefined && call.folder.name === name) || isSamePlace(call));
  return { found, place };
}

/**
 * Makes a call that locks a folder. `make` starts at once, and waits for `earlier`, the end of the earlier calls of this thread for the folder, before
 * it uses the folder. Otherwise `destroy`, which needs fewer steps than `open`, could overtake it and delete the database that is being opened.
 */
export function inCallOrder<T>(folder: WritableFolder, make: (earlier: Promise<unknown> | undefined) => Promise<T>): Promise<T> {
  const { found, place } = callsFor(folder, calls);
  const made = make(found.length === 0 ? undefined : Promise.all(found.map(({ ended }) => ended)));
  addCall(folder, place, made);
  return made;
}

function addCall(folder: WritableFolder, place: string | undefined, work: Promise<unknown>): FolderCall {
  const end = (): void => {
    calls.delete(call);
  };
  const call: FolderCall = { folder, place, ended: work.then(end, end) };
  calls.add(call);
  return call;
}

/** Announces the last work on a folder before its database is closed. Later calls of this thread for the folder wait for it. */
export function announceLastWork(folder: WritableFolder, work: Promise<unknown>): void {
  const call = addCall(folder, undefined, work);
  lastWork.add(call);
  // An attempt to lock that has just failed looks for this call one turn later.
  void call.ended.then(turn).then(() => lastWork.delete(call));
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
        announceLastWork(folder, ended);
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
      const [last] = callsFor(folder, lastWork).found;
      if (last === undefined) throw error;
      await last.ended;
    }
  }
}
