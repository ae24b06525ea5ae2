import { Buffer } from 'node:buffer';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { DatabaseError } from '@bloom/leveldb';
import type { HostFormats } from '../host-formats.js';
import type { OpenOptions } from '../level-options.js';
import type { DatabaseStore } from '../database-store.js';
import type { LevelStore } from '../level-store.js';
import { type DatabaseUser, SharedDatabase } from '../worker/shared-database.js';
import { type ReceivedBytes, WorkerStore } from '../worker/worker-store.js';
import { type FolderMessage, folderChannelName, ThreadChannel } from './thread-channel.js';
import { identityOf, NodePlace } from './node-place.js';
import { SessionCalls } from './session-calls.js';
import { type GuestPlace, ThreadGuest } from './thread-guest.js';
import { ThreadHost } from './thread-host.js';

// Node's own, taken at load: test suites replace the global ones with fake ones, some before this is loaded.
const now = performance.now.bind(performance);

/** How long to wait for an answer before a locked folder counts as not shared. The thread that has it open may be busy. */
const PATIENCE_MS = 30_000;
/** The same for a wait for this thread, which is not busy while it waits. */
const OWN_PATIENCE_MS = 500;
/**
 * How long to wait for an answer before the lock is tried again: the first time, and at most. Each attempt reads which files the process has
 * open, to find who holds the lock: a hundred waiting threads would be busy with it.
 */
const FIRST_WAIT_MS = 10;
const MAX_WAIT_MS = 1000;
/** Opening takes longer than this if there is something to recover; a refusal does not. */
const OPENING_MS = 100;

/** The openings of this thread that have not ended, and when they began. */
const openings = new Set<{ readonly path: string; readonly begun: number }>();

const RECEIVED: ReceivedBytes = {
  // As in classic-level, views are `Buffer`s.
  formats: new Set(['buffer', 'view']),
  make: (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
};

/** Opens the database of a folder for this thread: in this thread, or in the thread of the process that has it open. */
export async function openShared(location: string, options: OpenOptions, formats: HostFormats): Promise<LevelStore> {
  if (options.lock === 'none') throw new TypeError("multithreading needs the lock of the folder: it cannot be used with lock: 'none'");
  const path = resolve(location);
  const makeDatabase = (): SharedDatabase => new SharedDatabase(new NodePlace(path), formats, {});
  let guest: ThreadGuest | undefined;
  let wasElsewhere = false;
  let heardAt = now();
  let wait = FIRST_WAIT_MS;
  try {
    for (;;) {
      const begun = now();
      const identity = identityOf(path);
      const announcement = identity === undefined ? undefined : announceOpening(identity, begun);
      const opening = { path, begun };
      openings.add(opening);
      const database = makeDatabase();
      const own: DatabaseUser = { letGo: () => undefined };
      try {
        await database.join(own, options);
        return storeOf(database, own, identityOf(path)!);
      } catch (error) {
        if ((error as { readonly code?: unknown }).code !== 'LEVEL_LOCKED') throw error;
        const { heldBy } = (error as { readonly cause: Partial<DatabaseError> }).cause;
        const isElsewhere = heldBy === 'another process';
        // The first time may be chance: the thread may just have ended.
        if (isElsewhere && wasElsewhere) throw error;
        wasElsewhere = isElsewhere;
        // Another level of this thread may have been closed in the meantime, which opening waits for.
        heardAt += now() - begun;
        openings.delete(opening);
        if (isOpeningHere(path)) heardAt = now();
        if (now() - heardAt > (heldBy === 'this thread' ? OWN_PATIENCE_MS : PATIENCE_MS)) throw error;
      } finally {
        openings.delete(opening);
        announcement?.close();
      }
      guest ??= new ThreadGuest(placeOf(path, identityOf(path)!, options, makeDatabase));
      const answer = await guest.find(wait);
      if (answer === 'found') {
        await guest.call('open', { createIfMissing: options.createIfMissing, errorIfExists: options.errorIfExists });
        const store = new WorkerStore(guest, RECEIVED);
        guest = undefined;
        return store;
      }
      if (answer === 'opening') heardAt = now();
      wait = Math.min(2 * wait, MAX_WAIT_MS);
    }
  } finally {
    guest?.fail('the level could not be opened');
  }
}

/** Whether this thread is opening the database, as threads announce it to others: see {@link announceOpening}. */
function isOpeningHere(path: string): boolean {
  return [...openings].some((opening) => opening.path === path && now() - opening.begun > OPENING_MS);
}

/** The store of the level that has opened the database. */
function storeOf(database: SharedDatabase, own: DatabaseUser, identity: string): LevelStore {
  const host = new ThreadHost(identity, database);
  const store: DatabaseStore = database.store.lent(async () => {
    await host.ownLeaves();
    await database.leave(own);
    // Another thread may have opened the database again in the meantime.
    await store.successor?.close();
  });
  own.onReopening = () => {
    store.successor = new WorkerStore(new SessionCalls(database, host, own), RECEIVED);
    return store.idle();
  };
  return store;
}

function placeOf(path: string, identity: string, options: OpenOptions, makeDatabase: () => SharedDatabase): GuestPlace {
  const look = (): 'there' | 'gone' | 'replaced' => {
    const now = identityOf(path);
    return now === identity ? 'there' : now === undefined ? 'gone' : 'replaced';
  };
  return { path, identity, options, makeDatabase, look };
}

/** Tells threads that look for the database in the meantime that it is being opened. */
function announceOpening(identity: string, begun: number): ThreadChannel<FolderMessage> {
  const channel = new ThreadChannel<FolderMessage>(folderChannelName(identity), (message) => {
    if ('hello' in message && now() - begun > OPENING_MS) channel.post({ isOpening: true });
  });
  return channel;
}
