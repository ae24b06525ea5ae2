import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';

const script = join(import.meta.dirname, '../run-tests.js');
const folder = mkdtempSync(join(tmpdir(), 'bloom-run-tests-'));
afterAll(() => rmSync(folder, { recursive: true }));

for (const name of ['turbo', 'vitest']) {
  const program = join(folder, name);
  writeFileSync(program, `#!/bin/sh\necho "${name} \${BLOOM_ALL_QUICK_TESTS-} $*"\n`);
  chmodSync(program, 0o755);
}

/** Runs the script with programs that print how they were called. */
function runTests(...words: string[]): { readonly status: number | null; readonly output: string[] } {
  const { BLOOM_ALL_QUICK_TESTS: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8', env: { ...env, PATH: `${folder}${delimiter}${env.PATH}` } });
  return { status, output: stdout.trimEnd().split('\n').filter((line) => !line.startsWith('turbo ')) };
}

// The stand-ins are programs of a POSIX shell.
describe.runIf(process.platform !== 'win32')('what Vitest runs', () => {
  test('is all quick tests, or the chosen files of them', () => {
    expect(runTests().output).toEqual(['vitest true run']);
    expect(runTests('hash64', 'crc32c').output).toEqual(['vitest true run hash64 crc32c']);
  });

  test('is the quick tests of a package', () => {
    for (const name of ['hash', 'packages/hash', '@bloom/hash']) {
      expect(runTests(name, 'hash64').output).toEqual(['vitest  run --project packages/hash --project packages/hash (isolated) hash64']);
    }
  });

  test('is the thorough tests of a package', () => {
    expect(runTests('--thorough', 'leveldb', 'turns').output).toEqual(['vitest  run --project packages/leveldb (thorough) --project packages/leveldb (isolated) (thorough) turns']);
  });

  test.each([['--project', 'packages/hash'], ['--project=packages/hash']])('is the projects that %s names', (...words) => {
    expect(runTests(...words).output).toEqual([`vitest  run ${words.join(' ')}`]);
    expect(runTests('--thorough', ...words).output.map((line) => line.replace(/ --maxWorkers=\d+/, ''))).toEqual([`vitest  run ${words.join(' ')}`]);
  });
});

describe('a folder without tests of the kind', () => {
  test.each([
    [['demo'], 'apps/demo has no quick tests; to run the others: npx pnpm@10 test-thorough apps/demo'],
    [['browser-tests', '--bail=1'], 'tooling/browser-tests has no quick tests; to run the others: npx pnpm@10 test-thorough tooling/browser-tests'],
    [['--thorough', 'vitest-config'], 'tooling/vitest-config has no thorough tests; to run the others: npx pnpm@10 test tooling/vitest-config'],
    [['kernels'], 'tooling/kernels has no tests'],
  ])('is said to have none: %s', (words, message) => {
    expect(runTests(...words)).toEqual({ status: 0, output: [message] });
  });

  test('fails where files are named', () => {
    expect(runTests('demo', 'words')).toMatchObject({ status: 1 });
  });
});
