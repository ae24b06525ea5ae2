import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAbstractSuite, WHOLE_SUITE } from '@bloom/fixtures/abstract-suite';
import { BloomLevel } from '@bloom/level';
import { expect, test } from 'vitest';
import { deleteProgram, LevelThread, threadProgram } from '../level-threads.js';

test('with the database open in another thread, every assertion of abstract-level 3.1.1 holds, of the level and of a sublevel', async () => {
  const root = mkdtempSync(join(tmpdir(), 'suite-threads-'));
  const program = await threadProgram();
  const thread = new LevelThread(program);
  let folders = 0;
  let guests = 0;

  /** A level that another thread has opened before. */
  class Guest extends BloomLevel {
    override async _open(options: object): Promise<void> {
      // Where that fails, this level fails in the same way.
      const isOpen = await thread.open(this.location, { ...options, multithreading: true }, this.location).then(() => true, () => false);
      if (isOpen) guests++;
      await super._open({ ...options, ...(isOpen && { errorIfExists: false }), multithreading: true });
    }

    override async _close(): Promise<void> {
      await super._close();
      await thread.close(this.location).catch(() => undefined);
    }
  }

  const result = await runAbstractSuite((options) => new Guest(join(root, String(folders++)), options));
  await thread.terminate();
  deleteProgram(program);
  rmSync(root, { recursive: true });
  expect(result).toEqual(WHOLE_SUITE);
  expect(guests).toBeGreaterThan(900);
});
