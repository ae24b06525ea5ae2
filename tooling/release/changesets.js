import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const manifest = createRequire(import.meta.url).resolve('@changesets/cli/package.json');
const program = join(dirname(manifest), 'bin.js');

/**
 * Runs changesets.
 *
 * @param {readonly string[]} args
 * @param {string} folder the root of a workspace
 * @returns {string} what it printed
 */
export function changeset(args, folder) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`changeset ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}
