import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bloomPrints } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const line = (i: number): string => `key ${String(i).padStart(7, '0')}\t${Buffer.alloc(40, String(i)).toString('base64')}\n`;
// More than 4 MiB of lines are decoded on a second thread, and more than 8 MiB of tables merged on one.
scratch.write('lines.tsv', Array.from({ length: 70_000 }, (_, i) => line(i)).join(''));
await Promise.all(['a.ldb', 'b.ldb'].map((name) => bloomPrints(['build', 'lines.tsv', '-q', '--compression', 'none', '-o', name], scratch.path)));
const before = readdirSync(scratch.path).sort();

/** The fewest files with which Node starts. */
let least = 12;
while (least < 64 && (await shell(`ulimit -n ${least}; bloom --version`, scratch.path)).code !== 0) least++;
const limits = Array.from({ length: 10 }, (_, i) => least + i);

// The shell of Windows has no such limit.
describe.runIf(process.platform !== 'win32').each([
  ['build lines.tsv -o out.ldb', true],
  ['build lines.tsv --sort -o out.ldb', true],
  ['merge a.ldb b.ldb -o out.ldb', true],
  ['salvage a.ldb b.ldb -o out.ldb', false],
])('bloom %s', (command, usesThread) => {
  test('is done with few open files, or says that it had too few and leaves nothing', async () => {
    const seen = new Set<string>();
    for (let i = 0, done = 0; i < limits.length && done < 2; i++) {
      const limit = limits[i]!;
      const { code, stderr } = await shell(`ulimit -n ${limit}; bloom ${command}`, scratch.path);
      const last = stderr.trimEnd().split('\n').at(-1)!;
      if (code === 0) {
        rmSync(scratch.at('out.ldb'));
        done++;
        continue;
      }
      expect([limit, code, last]).toEqual([limit, 2, expect.stringMatching(/^bloom: [a-z. ]+: too many open files: ulimit -n shows the limit$/)]);
      expect(readdirSync(scratch.path).sort()).toEqual(before);
      seen.add(last);
    }
    expect(seen.size).toBeGreaterThan(0);
    if (usesThread) expect([...seen].filter((text) => text.startsWith('bloom: a second thread: '))).toHaveLength(1);
  });
});
