import { type LawRun, shownOrder } from '../law-run.js';

/** Law 9: the same keys get the same answer each time. */
export function answersAlike(run: LawRun): void {
  for (const pool of run.pools) {
    const pairs = pool.flatMap((a) => pool.map((b) => [a, b] as const));
    const first = pairs.map(([a, b]) => run.order(a, b));
    // Once more in another order, and twice in a row.
    for (let i = pairs.length - 1; i >= 0; i--) {
      const [a, b] = pairs[i]!;
      for (let again = 0; again < 2; again++) {
        const order = run.order(a, b);
        if (!Object.is(order, first[i])) run.fail(`${shownOrder(a, first[i]!, b)}, and later ${shownOrder(a, order, b)}`);
      }
    }
  }
}
