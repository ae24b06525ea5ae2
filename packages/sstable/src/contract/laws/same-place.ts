import { shownKey } from '../../format/comparator-error.js';
import { type LawRun, type Order, orderOf, shownOrder } from '../law-run.js';

/** Bytes around a lent key, which is at an odd offset. */
const BEFORE = 13;
const AFTER = 5;

/** A copy of a key in the middle of a larger buffer. */
function lent(key: Uint8Array, filler: number): Uint8Array {
  const bytes = new Uint8Array(BEFORE + key.length + AFTER).fill(filler);
  bytes.set(key, BEFORE);
  return bytes.subarray(BEFORE, BEFORE + key.length);
}

/** Law 7: the order depends only on the bytes of the keys. */
export function readsOnlyKeys(run: LawRun): void {
  run.overPairs((a, b) => {
    const order = run.order(a, b);
    for (const filler of [0, 0x61, 0xff]) {
      const ask = (): Order => orderOf(() => run.comparator.compare(lent(a, filler), lent(b, filler ^ 0xff)));
      const inBuffers = ask();
      if (Object.is(inBuffers, order) || Number.isNaN(order)) continue;
      // An answer that changes by itself is another law's concern.
      if (!Object.is(ask(), inBuffers) || !Object.is(ask(), inBuffers)) continue;
      return `as arrays of their own, ${shownOrder(a, order, b)}; as views of larger buffers, ${shownOrder(a, inBuffers, b)}`;
    }
    return undefined;
  });
}

/** Law 8: `compareRange` answers like `compare`. */
export function comparesRanges(run: LawRun): void {
  const { comparator } = run;
  if (comparator.compareRange === undefined) return;
  run.overPairs((a, b) => {
    const order = run.order(a, b);
    if (Number.isNaN(order)) return undefined;
    const [aBuffer, bBuffer] = [new Uint8Array(lent(a, 0x61).buffer), new Uint8Array(lent(b, 0xff).buffer)];
    const inRanges = orderOf(() => comparator.compareRange!(aBuffer, BEFORE, BEFORE + a.length, bBuffer, BEFORE, BEFORE + b.length));
    if (Object.is(inRanges, order)) return undefined;
    return `to compare, ${shownOrder(a, order, b)}; to compareRange, with ${shownKey(aBuffer)}, ${shownOrder(a, inRanges, b)}`;
  });
}
