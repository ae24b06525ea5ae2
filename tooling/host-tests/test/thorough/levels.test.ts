// Runs abstract-level's suite on the built packages in Deno and Bun, on files.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { SUITE_OF_LEVELS, WHOLE_SUITE } from '@bloom/fixtures/abstract-suite';
import { afterAll, describe, expect, test } from 'vitest';
import { hosts } from '../../src/hosts.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-levels-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
// Sublevels use the folder in the same way, so only the long run includes them: `npx pnpm@10 --filter @bloom/long-tests level-suite`.
const withSublevels = process.env.BLOOM_LEVEL_SUITE !== undefined;
const program = join(import.meta.dirname, '../../src/level-suite.ts');

// Elsewhere they cannot lock a folder.
describe.runIf(process.platform === 'linux').each(hosts.filter(({ binary }) => binary !== undefined))('in $name', ({ name, binary, run }) => {
  test(`every assertion of abstract-level 3.1.1 holds on files, of levels${withSublevels ? ' and of sublevels' : ''}`, async () => {
    const options = { cwd: join(import.meta.dirname, '../..'), env: { ...process.env, NO_COLOR: '1' }, maxBuffer: 2 ** 26 };
    const { stdout } = await promisify(execFile)(binary!, [...run, program, join(folder, name), ...(withSublevels ? ['sublevels'] : [])], options);
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1)!)).toEqual(withSublevels ? WHOLE_SUITE : SUITE_OF_LEVELS);
  });
});
