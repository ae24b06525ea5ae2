// Compiles the C++ policy of the guide on numbered keys with LevelDB, where that is installed, and measures it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'bloom-trial-policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const guide = readFileSync(join(import.meta.dirname, '../../pages/guide/numbered-keys.md'), 'utf8');
const policies = [...guide.matchAll(/^```cpp\n(?<code>[^]*?)^```$/gm)].map(({ groups }) => groups!.code!);

function compile(source: string, out: string): string | undefined {
  const { error, status, stderr } = spawnSync(process.env.CXX ?? 'c++', ['-O2', '-std=c++17', '-Wall', '-Wextra', '-Werror', `-I${folder}`, source, '-o', out, '-lleveldb', '-pthread'], { encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr);
}

const probe = join(folder, 'probe.cc');
writeFileSync(probe, '#include <leveldb/filter_policy.h>\nint main() { delete leveldb::NewBloomFilterPolicy(10); }\n');
const unavailable = compile(probe, join(folder, 'probe'));

test('the guide has one policy in C++, whose lines fit next to the outline', () => {
  expect(policies.length).toBe(1);
  expect(policies[0]!.split('\n').filter((line) => line.length > 82)).toEqual([]);
});

if (unavailable !== undefined) test.skip(`the policy is not compiled: ${unavailable.split('\n')[0]}`, () => {});
test.runIf(unavailable === undefined)('the policy lets as few absent numbers match as the guide says, and LevelDB’s own policy reads its filters', () => {
  writeFileSync(join(folder, 'trial-policy.h'), policies[0]!);
  const program = join(folder, 'trial-policy');
  expect(compile(join(import.meta.dirname, 'trial-policy.cc'), program)).toBeUndefined();
  const { status, stdout } = spawnSync(program, { encoding: 'utf8' });
  expect(status).toBe(0);
  const [digits, bigEndian] = stdout.trim().split('\n').map((line) => line.split(' ').map(Number));
  const percent = (share: number): string => `${Number((100 * share).toPrecision(2))}%`;
  const [plain, trial, size] = digits as [number, number, number];
  expect(guide).toContain(`${percent(trial)} of absent 16-digit numbers matched instead of ${percent(plain)}, and the filters were ${percent(size - 1)} larger.`);
  expect(guide).toContain(`For big-endian numbers it was ${percent(bigEndian![1]!)} instead of ${percent(bigEndian![0]!)}.`);
});
