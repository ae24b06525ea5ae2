import { createRequire } from 'node:module';
import { createHarness } from 'tape';

/** abstract-level's suite, which has no types. */
const suite = createRequire(import.meta.url)('abstract-level/test') as (options: {
  readonly test: ReturnType<typeof createHarness>;
  readonly factory: (options?: object) => object;
}) => void;

/** A row of tape's results, as a stream of objects has it. */
interface Row {
  readonly type: 'test' | 'assert' | 'end';
  readonly id?: number;
  readonly test?: number;
  readonly name?: string;
  readonly ok?: boolean;
  readonly error?: unknown;
}

export interface SuiteResult {
  readonly tests: number;
  readonly passed: number;
  /** Test and assertion, of each that failed. */
  readonly failed: readonly string[];
}

/** What all of abstract-level 3.1.1's suite gives, which runs once on levels and once on sublevels. */
export const WHOLE_SUITE: SuiteResult = { tests: 1509, passed: 5168, failed: [] };

/** Runs all of abstract-level's suite, as it is published, with tape, for which it was written. */
export function runAbstractSuite(factory: (options?: object) => object): Promise<SuiteResult> {
  const test = createHarness({ autoclose: true });
  const names = new Map<number, string>();
  const failed: string[] = [];
  let tests = 0;
  let passed = 0;
  return new Promise((resolve, reject) => {
    const results = test.createStream({ objectMode: true });
    results.on('data', (row: Row) => {
      if (row.type === 'test') {
        tests++;
        names.set(row.id!, row.name!);
      } else if (row.type === 'assert') {
        if (row.ok === true) passed++;
        else failed.push(`${names.get(row.test!)}: ${row.name}: ${String(row.error)}`);
      }
    });
    results.on('end', () => resolve({ tests, passed, failed }));
    results.on('error', reject);
    suite({ test, factory });
  });
}
