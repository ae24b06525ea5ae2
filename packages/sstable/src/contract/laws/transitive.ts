import { type LawRun, type Order, shownOrder } from '../law-run.js';

/** Law 3: the order is transitive. */
export function isTransitive(run: LawRun): void {
  for (const pool of run.pools) {
    const orders = pool.map((a) => Float64Array.from(pool, (b) => run.order(a, b)));
    for (let a = 0; a < pool.length; a++) {
      for (let b = 0; b < pool.length; b++) {
        if (!(orders[a]![b]! <= 0)) continue;
        for (let c = 0; c < pool.length; c++) {
          if (!(orders[b]![c]! <= 0) || implied(orders[a]![b]!, orders[b]![c]!) === orders[a]![c]) continue;
          run.check(() => problemOf(run, pool[a]!, pool[b]!, pool[c]!), () => run.order(pool[a]!, pool[c]!));
        }
      }
    }
  }
}

/** The order of a and c, where a is before b or equal to it, and b before c or equal to it. */
function implied(ab: Order, bc: Order): Order {
  return ab < 0 || bc < 0 ? -1 : 0;
}

function problemOf(run: LawRun, a: Uint8Array, b: Uint8Array, c: Uint8Array): string | undefined {
  const [ab, bc, ac] = [run.order(a, b), run.order(b, c), run.order(a, c)];
  const areOrdered = run.isOrdered(a, b) && run.isOrdered(b, c) && run.isOrdered(a, c);
  const isOneKey = [[a, b], [b, c], [a, c]].some(([x, y]) => x === y);
  if (isOneKey || !areOrdered || ab > 0 || bc > 0 || ac === implied(ab, bc)) return undefined;
  return `${shownOrder(a, ab, b)}, ${shownOrder(b, bc, c)}, and ${shownOrder(a, ac, c)}`;
}
