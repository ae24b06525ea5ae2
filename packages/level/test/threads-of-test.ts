import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Comparator } from '@bloom/leveldb';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { deleteProgram, LevelThread, threadProgram } from './level-threads.js';

export const SHARED = { multithreading: true } as const;

/** Later keys come first. */
export const BACKWARD: Comparator = {
  name: 'test.backward',
  compare: (a, b) => Buffer.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};

/** New folders and threads for the tests of a file, after which they are removed. */
export class ThreadsOfTest {
  readonly #threads: LevelThread[] = [];
  #root = '';
  #program = '';
  #folders = 0;

  constructor() {
    beforeAll(async () => {
      this.#root = mkdtempSync(join(tmpdir(), 'level-threads-'));
      this.#program = await threadProgram();
    });
    afterEach(async () => {
      await Promise.all(this.#threads.splice(0).map((thread) => thread.terminate()));
    });
    afterAll(() => {
      rmSync(this.#root, { recursive: true });
      deleteProgram(this.#program);
    });
  }

  newPath(): string {
    return join(this.#root, String(this.#folders++));
  }

  start(): LevelThread {
    const thread = new LevelThread(this.#program);
    this.#threads.push(thread);
    return thread;
  }

  async startOpen(path: string, options?: object): Promise<LevelThread> {
    const thread = this.start();
    await thread.open(path, options);
    return thread;
  }
}
