import type { FilterPolicy } from '../../policy.js';
import type { LawRun } from '../law-run.js';

/** Filters of tables have these numbers of keys: a block of 4 KiB has some 17 to 50 keys. */
const COUNTS = Array.from({ length: 121 }, (_, i) => i + 8);
/** Filters of each number of keys. */
const FILTERS = 4;

/** Ways to write a number as text. Rates of filters with hashes that mix little differ most for such keys. */
const KINDS: readonly { readonly what: string; readonly textOf: (number: number) => string }[] = [
  { what: 'decimal numbers of 16 digits', textOf: (number) => String(number).padStart(16, '0') },
  { what: 'numbers after a word', textOf: (number) => `key${String(number).padStart(9, '0')}` },
  { what: 'hexadecimal numbers of 24 digits', textOf: (number) => `65920080b3c1d7${(0x5a17c30000 + number).toString(16)}` },
];

const encoder = new TextEncoder();

/** The law that absent numbers between stored ones match at most at a rate, taken over all filters of 8 to 128 keys. */
export function neighbourRateIsAtMost(makePolicy: () => FilterPolicy, maxRate: number) {
  return (run: LawRun): void => {
    for (const { what, textOf } of KINDS) {
      run.step((random) => {
        const trial = run.trial(makePolicy);
        let asked = 0;
        let passed = 0;
        for (const count of COUNTS) {
          for (let i = 0; i < FILTERS; i++) {
            const from = random.below(10_000_000) * 2;
            const numbers = Array.from({ length: count }, (_, number) => from + number * 2);
            const [filter] = trial.place(trial.filterOf(numbers.map((number) => encoder.encode(textOf(number)))));
            for (const number of numbers) if (trial.asks(encoder.encode(textOf(number + 1)), filter!)) passed++;
            asked += count;
          }
        }
        return passed > maxRate * asked ? `${(passed / asked) * 100}% of the absent ${what} between stored ones match filters of 8 to 128 keys` : undefined;
      }, 2000);
    }
  };
}
