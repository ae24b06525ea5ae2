import { sameBytes } from '@bloom/bytes/internal';
import { shownKey } from '../../format/comparator-error.js';
import { type LawRun, shownError, shownOrder } from '../law-run.js';

/** Law 5: `findShortestSeparator` returns a key at or after its start and before its limit. */
export function separatesKeys(run: LawRun): void {
  run.overPairs((start, limit) => {
    if (run.order(start, limit) >= 0 || !run.isOrdered(start, limit)) return undefined;
    const call = (): string => `findShortestSeparator(${shownKey(start)}, ${shownKey(limit)})`;
    const separator = resultOf(call, () => run.comparator.findShortestSeparator(start.slice(), limit.slice()));
    if (typeof separator === 'string') return separator;
    if (sameBytes(start, separator)) return undefined;
    const fromStart = run.order(start, separator);
    if (fromStart > 0) return `${call()} returns ${shownKey(separator)}: ${shownOrder(start, fromStart, separator)}`;
    const toLimit = run.order(separator, limit);
    return toLimit >= 0 ? `${call()} returns ${shownKey(separator)}: ${shownOrder(separator, toLimit, limit)}` : undefined;
  });
}

/** Law 6: `findShortSuccessor` returns a key at or after its key. */
export function succeedsKeys(run: LawRun): void {
  for (const key of run.pools.flat()) {
    run.check(() => {
      const call = (): string => `findShortSuccessor(${shownKey(key)})`;
      const successor = resultOf(call, () => run.comparator.findShortSuccessor(key.slice()));
      if (typeof successor === 'string') return successor;
      if (sameBytes(key, successor)) return undefined;
      const order = run.order(key, successor);
      return order > 0 ? `${call()} returns ${shownKey(successor)}: ${shownOrder(key, order, successor)}` : undefined;
    }, () => run.order(key, key));
  }
}

/** The key that a call returns, copied, or what is wrong with its result. */
function resultOf(call: () => string, find: () => unknown): Uint8Array | string {
  let result: unknown;
  try {
    result = find();
  } catch (error) {
    return `${call()} throws ${shownError(error)}`;
  }
  return result instanceof Uint8Array ? result.slice() : `${call()} returns a value of type ${typeof result}, and must return a Uint8Array`;
}
