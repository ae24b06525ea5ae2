import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { bundledProgram } from '../bundled-program.js';

test('databases that are not closed and become garbage keep their files and locks, and Node prints no warning', async () => {
  const program = await bundledProgram('left-open.ts');
  const root = mkdtempSync(join(tmpdir(), 'bloom-left-open-'));
  try {
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', program, root], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ collected: 3, outcomes: ['BLOOM_LOCKED', 'BLOOM_LOCKED', 'BLOOM_LOCKED'] });
  } finally {
    rmSync(root, { recursive: true });
    rmSync(dirname(program), { recursive: true });
  }
});
