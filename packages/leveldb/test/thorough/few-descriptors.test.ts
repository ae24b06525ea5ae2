// A process that may have few files open. The limit is that of a shell's ulimit.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'bloom-descriptors-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A shell's usual limit is tried in the long run `attacks` only. */
const LIMITS = process.env.BLOOM_ATTACKS === undefined ? [120] : [120, 1024];

// Other systems do not say how many files a process may have open.
test.runIf(process.platform === 'linux').each(LIMITS)('with %i descriptors, a database of some hundred tables is written, read, scanned and compacted', (limit) => {
  const program = join(import.meta.dirname, 'few-descriptors-program.mjs');
  const command = `ulimit -n ${limit}; exec "$0" "$@"`;
  const run = spawnSync('sh', ['-c', command, process.execPath, program, join(folder, String(limit))], { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8' });
  expect(run.stderr).toBe('');
  const found = JSON.parse(run.stdout) as { tables: number; found: number; scanned: number; entries: number; descriptors: number };
  expect(found).toMatchObject({ found: 2858 + 286 + 2858, scanned: 60_000, entries: 20_000 });
  expect(found.tables).toBeGreaterThan(200);
  expect(found.descriptors).toBeLessThan(limit);
});
