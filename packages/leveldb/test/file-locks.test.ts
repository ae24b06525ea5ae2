// The two locks of a file, on models of a kernel: one that keeps them apart, one that makes the same kind of lock of both.
import { expect, test } from 'vitest';
import { type FileLocks, takeLocks } from '../src/node/file-locks.js';

type Kind = 'fcntl' | 'flock';

/** Who has a lock on a file. Each is of one kind or, on a network file system, in the way of the other kind too. */
class LockTable {
  readonly holders = new Map<Kind, string>();
  /** Called before each call of the file's own locks, when others may do something. */
  between: () => void = () => undefined;
  readonly #isShared: boolean;

  constructor(isShared = false) {
    this.#isShared = isShared;
  }

  tryLock(kind: Kind, owner: string): boolean {
    const other: Kind = kind === 'flock' ? 'fcntl' : 'flock';
    const isTaken = (this.holders.get(kind) ?? owner) !== owner || (this.#isShared && this.holders.has(other));
    if (!isTaken) this.holders.set(kind, owner);
    return !isTaken;
  }

  unlock(kind: Kind, owner: string): void {
    if (this.holders.get(kind) === owner) this.holders.delete(kind);
  }

  /** The calls of a program that takes both locks. */
  locksOf(owner: string, hasFlock = true): FileLocks {
    const call = <T>(made: () => T): T => {
      this.between();
      return made();
    };
    return {
      tryLock: () => call(() => this.tryLock('fcntl', owner)),
      unlock: () => call(() => this.unlock('fcntl', owner)),
      flock: {
        tryLock: () => call(() => hasFlock && this.tryLock('flock', owner)),
        unlock: () =>
          call(() => {
            if (hasFlock) this.unlock('flock', owner);
            return hasFlock;
          }),
      },
    };
  }
}

test('a file that no one has locked gets both locks', () => {
  const table = new LockTable();
  expect(takeLocks(table.locksOf('us'), 3)).toEqual({ isTaken: true, noFlock: undefined });
  expect(Object.fromEntries(table.holders)).toEqual({ fcntl: 'us', flock: 'us' });
});

test('a file that another has locked by fcntl is refused, and neither lock is held', () => {
  const table = new LockTable();
  table.tryLock('fcntl', 'LevelDB');
  expect(takeLocks(table.locksOf('us'), 3)).toEqual({ isTaken: false, mayClose: false });
  expect(Object.fromEntries(table.holders)).toEqual({ fcntl: 'LevelDB' });
});

test("a file that another has locked by flock is refused while fcntl's lock is held, so that it may be closed", () => {
  const table = new LockTable();
  table.tryLock('flock', 'goleveldb');
  expect(takeLocks(table.locksOf('us'), 3)).toEqual({ isTaken: false, mayClose: true });
  expect(Object.fromEntries(table.holders)).toEqual({ fcntl: 'us', flock: 'goleveldb' });
});

test("where both locks are of one kind, fcntl's is taken and keeps out flock", () => {
  const table = new LockTable(true);
  expect(takeLocks(table.locksOf('us'), 3)).toEqual({ isTaken: true, noFlock: undefined });
  expect(Object.fromEntries(table.holders)).toEqual({ fcntl: 'us' });
  expect(table.tryLock('flock', 'goleveldb')).toBe(false);
});

test.each<Kind>(['fcntl', 'flock'])('where both locks are of one kind, the %s of another is refused', (kind) => {
  const table = new LockTable(true);
  table.tryLock(kind, 'another');
  expect(takeLocks(table.locksOf('us'), 3)).toEqual({ isTaken: false, mayClose: false });
  expect(Object.fromEntries(table.holders)).toEqual({ [kind]: 'another' });
});

test("where flock fails, fcntl's lock is taken, and the reason is reported", () => {
  const table = new LockTable();
  expect(takeLocks(table.locksOf('us', false), 3)).toEqual({ isTaken: true, noFlock: 'the file system does not support flock' });
  expect(Object.fromEntries(table.holders)).toEqual({ fcntl: 'us' });
});

test("where the host has no flock, fcntl's lock is taken, with the host's reason", () => {
  const { tryLock, unlock } = new LockTable().locksOf('us');
  expect(takeLocks({ tryLock, unlock, noFlock: 'no add-on' }, 3)).toEqual({ isTaken: true, noFlock: 'no add-on' });
});

test('whatever others lock and release in between, whoever takes the locks has both, and whoever does not has no flock', () => {
  let taken = 0;
  let refused = 0;
  const wrong: number[] = [];
  for (let seed = 1; seed <= 20_000; seed++) {
    const table = new LockTable();
    let state = seed;
    const random = (): number => (state = (state * 48_271) % 0x7fff_ffff) / 0x7fff_ffff;
    table.between = () => {
      if (random() > 0.2) return;
      const [kind, owner] = random() < 0.5 ? (['fcntl', 'LevelDB'] as const) : (['flock', 'goleveldb'] as const);
      if (table.holders.get(kind) === owner) table.unlock(kind, owner);
      else table.tryLock(kind, owner);
    };
    const attempt = takeLocks(table.locksOf('us'), 3);
    const { fcntl, flock } = Object.fromEntries(table.holders);
    if (attempt.isTaken) {
      taken++;
      if (fcntl !== 'us' || flock !== 'us' || attempt.noFlock !== undefined) wrong.push(seed);
    } else {
      refused++;
      if ((fcntl === 'us') !== attempt.mayClose || flock === 'us') wrong.push(seed);
    }
  }
  expect(wrong).toEqual([]);
  expect(Math.min(taken, refused)).toBeGreaterThan(100);
});

test('of two programs that take both locks at the same time, never both have them', () => {
  for (let step = 0; step < 12; step++) {
    for (const isShared of [false, true]) {
      const table = new LockTable(isShared);
      let calls = 0;
      let other: ReturnType<typeof takeLocks> | undefined;
      table.between = () => {
        if (calls++ !== step) return;
        table.between = () => undefined;
        other = takeLocks(table.locksOf('other'), 4);
      };
      const ours = takeLocks(table.locksOf('us'), 3);
      expect([step, ours.isTaken, other?.isTaken]).not.toEqual([step, true, true]);
    }
  }
});
