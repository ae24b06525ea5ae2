import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');

// npm has no actionlint; Go runs it from its sources, which it downloads.
const actionlint = (...args: string[]) => spawnSync('go', ['run', 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12', ...args], { cwd: root, encoding: 'utf8' });
const runs = actionlint('-version').status === 0;

test.skipIf(!runs)(`actionlint finds nothing in the workflows${runs ? '' : ' (it needs go, and the network for the first time)'}`, () => {
  const { status, stdout, stderr } = actionlint();
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: '' });
});
