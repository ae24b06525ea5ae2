import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a table of 300 MB takes less than 120 MB of memory to write', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-writing-memory-'));
  try {
    const script = fileURLToPath(new URL('../write-300-mb.ts', import.meta.url));
    const args = ['--expose-gc', '--conditions=bloom-source', '--import', 'tsx', script, join(folder, 'table.ldb')];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(new URL('..', import.meta.url)) });
    const { byteLength, growth } = JSON.parse(stdout) as { byteLength: number; growth: number };
    expect(byteLength).toBeGreaterThan(300e6);
    expect(growth).toBeLessThan(120e6);
  } finally {
    await rm(folder, { recursive: true });
  }
});
