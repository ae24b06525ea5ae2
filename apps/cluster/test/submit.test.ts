// The first step of the recipe for Slurm, with a stand-in for sbatch.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const submit = join(import.meta.dirname, '../src/slurm/submit.sh');

test.skipIf(process.platform === 'win32')('submits a task for each shard, whether or not the list ends in a newline', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-submit-'));
  try {
    writeFileSync(join(folder, 'sbatch'), `#!/bin/bash\necho "$*" >> ${folder}/calls\necho 7\n`, { mode: 0o755 });
    for (const end of ['', '\n']) {
      writeFileSync(join(folder, 'shards'), `a.tsv\nb.tsv\nc.tsv${end}`);
      const env = { PATH: `${folder}:${process.env.PATH}`, SHARDS: join(folder, 'shards'), WORK: folder, PARTS: 'parts', STORE: 'store', SEQUENCE: '1', RANGES: '5' };
      expect(execFileSync('bash', [submit], { env, encoding: 'utf8' })).toBe('7\n');
      const arrays = readFileSync(join(folder, 'calls'), 'utf8').match(/--array=\S+/g);
      expect(arrays).toEqual(['--array=0-2', '--array=0-4']);
      rmSync(join(folder, 'calls'));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
