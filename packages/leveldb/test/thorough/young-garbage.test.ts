import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { bundledProgram } from '../bundled-program.js';

test('a closed database leaves next to nothing in the old generation of V8, which is collected late', async () => {
  const program = await bundledProgram('young-garbage.ts');
  try {
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', program], { encoding: 'utf8' });
    expect(stderr).toBe('');
    // 21,000 bytes while its state referred to it through a function that V8 creates there.
    expect(Number(stdout)).toBeLessThan(8000);
  } finally {
    rmSync(dirname(program), { recursive: true });
  }
});
