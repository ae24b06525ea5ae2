import { markdownTable } from './report.js';

/** The filters of a policy with a certain number of keys. Times are nanoseconds per key. */
export interface FilterRow {
  readonly keys: number;
  readonly policy: string;
  readonly bitsPerKey: number;
  /** The share of absent keys that match. */
  readonly rate: number;
  readonly buildNs: number;
  readonly absentNs: number;
  readonly presentNs: number;
  readonly batchNs?: number | undefined;
}

/** The measurements of `filter-policies.ts`. */
export interface FilterRun {
  readonly node: string;
  readonly rows: readonly FilterRow[];
}

/** The policy that the others are compared with. */
export const FIRST_POLICY = 'Bloom, 10 bits';

const COLUMNS = ['keys', 'policy', 'bits per key', 'absent that match', 'build', 'one absent', 'one present', 'in a batch'];

/** A row for each policy and number of keys: its times, and in parentheses how many times those of Bloom's they are. */
export function filterTable(rows: readonly FilterRow[]): string {
  return markdownTable(
    COLUMNS,
    rows.map((row) => {
      const first = rows.find(({ keys, policy }) => keys === row.keys && policy === FIRST_POLICY);
      const time = (of: 'buildNs' | 'absentNs' | 'presentNs' | 'batchNs'): string => {
        const [own, its] = [row[of], first?.[of]];
        if (own === undefined) return '–';
        return row === first || its === undefined ? own.toFixed(0) : `${own.toFixed(0)} (${(own / its).toFixed(1)})`;
      };
      const cells = [row.keys.toLocaleString('en'), row.policy, row.bitsPerKey.toFixed(2), `${(row.rate * 100).toFixed(2)}%`];
      return [...cells, time('buildNs'), time('absentNs'), time('presentNs'), time('batchNs')];
    }),
  );
}
