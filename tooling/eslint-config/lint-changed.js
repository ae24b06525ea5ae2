// Lints what differs from the main branch, committed or not.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** @param {readonly string[]} args */
function git(args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim().split('\n');
}

const [base = 'main'] = process.argv.slice(2);
const start = git(['merge-base', base, 'HEAD'])[0] ?? base;
const changed = new Set([...git(['diff', '--name-only', start]), ...git(['ls-files', '--others', '--exclude-standard'])]);
const files = [...changed].filter((file) => /\.(js|cjs|ts|tsx)$/.test(file) && existsSync(join(root, file)));
console.log(`${files.length} files`);
if (files.length > 0) {
  const { status } = spawnSync('eslint', ['--max-warnings=0', '--no-warn-ignored', ...files], { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
  process.exitCode = status ?? 1;
}
