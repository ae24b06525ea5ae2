import { type BigIntStats, statSync } from 'node:fs';
import files from 'node:fs/promises';
import type { FolderLock } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { ROOM_BYTES, type SharedPlace } from '../worker/shared-database.js';

/** Identifies a folder, whatever the path to it. */
export function identityOf(path: string): string | undefined {
  const stats: BigIntStats | undefined = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

/** The place of a database that threads share. */
export class NodePlace implements SharedPlace {
  readonly path: string;
  /** Of the folder that was opened. */
  #identity: string | undefined;
  /** Whether the lock is not released when the database is closed. */
  #keepsLock = false;
  #kept: FolderLock | undefined;

  constructor(path: string) {
    this.path = path;
  }

  folder(): WritableNodeFolder {
    const folder = new WritableNodeFolder(this.path);
    const lock = folder.lock.bind(folder);
    folder.lock = async () => {
      const kept = this.#kept;
      this.#kept = undefined;
      if (kept !== undefined && this.#isSame) return kept;
      await kept?.release();
      return this.#keepable(await lock());
    };
    return folder;
  }

  opened(): void {
    this.#identity = identityOf(this.path);
  }

  async canReopen(): Promise<boolean> {
    if (!this.#isSame) return false;
    // Not every host has it.
    const { bavail, bsize } = (await (files as Partial<typeof files>).statfs?.(this.path)) ?? { bavail: Infinity, bsize: 1 };
    return bavail * bsize >= ROOM_BYTES;
  }

  async keepingLock<T>(call: () => Promise<T>): Promise<T> {
    this.#keepsLock = true;
    try {
      return await call();
    } finally {
      this.#keepsLock = false;
      await this.#kept?.release();
      this.#kept = undefined;
    }
  }

  get #isSame(): boolean {
    try {
      return this.#identity !== undefined && identityOf(this.path) === this.#identity;
    } catch {
      return false;
    }
  }

  #keepable(lock: FolderLock): FolderLock {
    const keepable: FolderLock = {
      limits: lock.limits,
      release: () => {
        if (!this.#keepsLock) return lock.release();
        this.#kept = keepable;
        return undefined;
      },
    };
    return keepable;
  }
}
