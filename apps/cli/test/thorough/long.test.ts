import { beforeAll, describe, expect, test } from 'vitest';
import { build } from '../bloom.js';
import { measuredBloom, Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const long = ' '.repeat(120_000);
const keyOf = (i: number): string => `${String(i).padStart(4, '0')}${'k'.repeat(100_000)}`;

beforeAll(async () => {
  scratch.write('good.tsv', 'a\t1\n');
  await build('good.ldb', [], scratch.path, 'a\t1\n');
  await build('long.ldb', [], scratch.path, Array.from({ length: 40 }, (_, i) => `${keyOf(i)}\tv\n`).join(''));
});

// They take about 0.2 s each, and stat takes 1 s.
const LIMIT_MS = 4000;

async function ends(args: readonly string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr, cpuMs } = await measuredBloom(args, scratch.path);
  expect(cpuMs).toBeLessThan(LIMIT_MS);
  return { code, stdout: stdout.toString(), stderr };
}

describe('a name or key of 120,000 spaces', () => {
  test.each([
    ['as a table', ['get', long, 'a'], 2],
    ['as the input', ['build', long, '-o', 'out.ldb'], 2],
    ['as the output', ['build', 'good.tsv', '-o', long], 2],
    ['as the output of salvage', ['salvage', 'good.ldb', '-o', long], 2],
    ['as a key', ['get', 'good.ldb', long], 1],
    ['as a bound in hexadecimal', ['scan', 'good.ldb', '--hex', '--gt', long], 2],
    ['as a number', ['scan', 'good.ldb', '--limit', long], 2],
    ['as a command', [`${long}x`], 2],
    ['as an option', ['scan', 'good.ldb', `--${long}`], 2],
  ])('%s is reported quickly, in a line of limited length', async (_, args, expected) => {
    const { code, stderr } = await ends(args);
    expect(code).toBe(expected);
    expect(stderr).toMatch(/^bloom: [^\n]*[^ \n][^\n]*\n$/);
    expect(stderr.length).toBeLessThan(6100);
    expect(stderr).not.toContain('should not happen');
  });
});

describe('keys of 100,000 bytes', () => {
  test('are measured by stat', async () => {
    const { code, stdout } = await ends(['stat', '--json', 'long.ldb']);
    expect(code).toBe(0);
    const { falsePositives } = JSON.parse(stdout) as { falsePositives: { tried: number } };
    // Measures as many keys of this length as fit into 64 MiB.
    expect(falsePositives.tried).toBeGreaterThan(500);
    expect(falsePositives.tried).toBeLessThan(700);
  });

  test('are accepted by every other command', async () => {
    expect(await ends(['get', 'long.ldb', keyOf(7), keyOf(99)])).toMatchObject({ code: 1, stdout: 'v\n' });
    expect((await ends(['scan', 'long.ldb', '--gte', keyOf(30)])).stdout.length).toBe(10 * (keyOf(0).length + 3));
    expect((await ends(['scan', 'long.ldb', '-f', 'jsonl'])).code).toBe(0);
    expect(await ends(['verify', 'long.ldb'])).toMatchObject({ code: 0, stderr: 'bloom: long.ldb: nothing is wrong\n' });
    expect((await ends(['layout', 'long.ldb'])).code).toBe(0);
    expect(await ends(['salvage', 'long.ldb', '-o', 'saved.ldb'])).toMatchObject({ code: 0 });
  });
});
