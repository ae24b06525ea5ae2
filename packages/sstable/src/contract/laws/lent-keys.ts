import { sameBytes } from '@bloom/bytes/internal';
import { shownKey } from '../../format/comparator-error.js';
import { type LawRun, orderOf, shownOrder } from '../law-run.js';

/** Law 10: a comparator does not change the keys that it receives. */
export function changesNothing(run: LawRun): void {
  const { comparator } = run;
  run.overPairs((a, b) => {
    const calls: [name: string, call: (a: Uint8Array, b: Uint8Array) => unknown][] = [
      ['compare', (x, y) => comparator.compare(x, y)],
      ['findShortSuccessor', (x) => comparator.findShortSuccessor(x)],
    ];
    if (run.order(a, b) < 0) calls.push(['findShortestSeparator', (x, y) => comparator.findShortestSeparator(x, y)]);
    if (comparator.compareRange !== undefined) calls.push(['compareRange', (x, y) => comparator.compareRange!(x, 0, x.length, y, 0, y.length)]);
    for (const [name, call] of calls) {
      const [x, y] = [a.slice(), b.slice()];
      try {
        call(x, y);
      } catch {
        // Another law is about errors.
      }
      for (const [key, after] of [[a, x], [b, y]] as const) if (!sameBytes(key, after)) return `${name} changes ${shownKey(key)}, which it was lent, to ${shownKey(after)}`;
    }
    return undefined;
  });
}

/** Law 11: a comparator does not keep the keys that it receives. */
export function keepsNothing(run: LawRun): void {
  for (const pool of run.pools) {
    // Arrays of one length, which are used for one key after another.
    const byLength = new Map<number, Uint8Array[]>();
    for (const key of pool) byLength.set(key.length, [...(byLength.get(key.length) ?? []), key]);
    for (const keys of byLength.values()) {
      const array = new Uint8Array(keys[0]!.length);
      for (const other of keys) {
        for (const key of keys) {
          run.check(() => {
            array.set(key);
            orderOf(() => run.comparator.compare(array, other.slice()));
            for (const next of keys) {
              array.set(next);
              const inArray = orderOf(() => run.comparator.compare(array, other.slice()));
              const order = run.order(next, other);
              if (!Object.is(inArray, order)) return `${shownOrder(next, order, other)}; in an array that held ${shownKey(key)} before, ${shownOrder(next, inArray, other)}`;
            }
            return undefined;
          }, () => run.order(key, other));
        }
      }
    }
  }
}
