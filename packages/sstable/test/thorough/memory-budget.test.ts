import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The limit of a block, in which `TableOptions.maxBlockBytes` documents the bounds; M there. */
const LIMIT = 2 ** 23;
/** The bytes of JavaScript's heap. Blocks, keys and the decoded index are outside of it. */
const HEAP_MB = 128;

interface Line {
  readonly name: string;
  readonly outcome: unknown;
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Runs the cases, named `part: kind: action`. @returns the outcomes by name. */
async function run(cases: readonly string[], maxBytes: number): Promise<Record<string, unknown>> {
  const script = fileURLToPath(new URL('../memory-budget-runner.ts', import.meta.url));
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--expose-gc', '--conditions=bloom-source', '--import', 'tsx'];
  const child = promisify(execFile)(process.execPath, [...flags, script, String(LIMIT), ...cases], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  });
  // If the process dies, it has printed lines for the cases before.
  const { stdout } = await child.catch((error: unknown) => error as { stdout: string });
  const lines = stdout.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
  expect(lines.map(({ name }) => name)).toEqual(cases);
  for (const { name, bytes, milliseconds } of lines) {
    expect(bytes / LIMIT, name).toBeLessThan(maxBytes / LIMIT);
    expect(milliseconds, name).toBeLessThan(5000);
  }
  return Object.fromEntries(lines.map(({ name, outcome }) => [name, outcome]));
}

/** The heap, and freed memory that the allocator keeps. */
const SLACK = 48 * 2 ** 20;

test('opening stays within its budget, whatever its blocks expand to', async () => {
  const outcomes = await run(
    ['index', 'metaindex', 'filter'].flatMap((part) => ['empty entries', 'one long key'].map((kind) => `${part}: ${kind}: ${part === 'index' ? 'open' : 'get'}`)),
    4 * LIMIT + SLACK,
  );
  expect(outcomes).toEqual({
    'index: empty entries: open': 'BLOOM_TOO_LARGE',
    'index: one long key: open': 'BLOOM_TOO_LARGE',
    // Damage to the filter block costs only the filters.
    'metaindex: empty entries: get': 1,
    'metaindex: one long key: get': 1,
    'filter: empty entries: get': 1,
    'filter: one long key: get': 1,
  });
});

test('lookups and scans stay within their budget, whatever their blocks expand to', async () => {
  const actions = ['get', 'getMany', 'scan', 'scan with promises'];
  const cases = ['empty entries', 'one long key'].flatMap((kind) => actions.map((action) => `data: ${kind}: ${action}`));
  const outcomes = await run(cases, 5 * LIMIT + SLACK);
  for (const kind of ['empty entries', 'one long key']) {
    expect(actions.map((action) => outcomes[`data: ${kind}: ${action}`])).toEqual(['absent', 3, 20, 20]);
  }
});

test('backward scans stay within their budget, whatever their blocks expand to', async () => {
  const cases = ['empty entries', 'one long key'].flatMap((kind) => ['', ' with promises'].map((how) => `data: ${kind}: reverse scan${how}`));
  const outcomes = await run(cases, 8 * LIMIT + SLACK);
  expect(Object.values(outcomes)).toEqual([20, 20, 20, 20]);
});
