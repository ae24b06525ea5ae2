import { type LawRun, shownOrder } from '../law-run.js';

/** Law 2: swapping the keys reverses the order. */
export function sameBothWays(run: LawRun): void {
  run.overPairs((a, b) => {
    const order = run.order(a, b);
    const reverse = run.order(b, a);
    if (Number.isNaN(order) || Number.isNaN(reverse)) return undefined;
    if (a === b) return order === 0 ? undefined : shownOrder(a, order, a);
    return order + reverse === 0 ? undefined : `${shownOrder(a, order, b)}, and ${shownOrder(b, reverse, a)}`;
  });
}
