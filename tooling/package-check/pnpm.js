import { spawnSync } from 'node:child_process';

/**
 * Runs pnpm: the one that started this process, or else one from npx, for example in a test that was started directly.
 *
 * @param {readonly string[]} args
 * @param {string} folder where it runs
 * @returns {unknown} the JSON at the end of its output, after the output of scripts
 */
export function pnpmJson(args, folder) {
  const running = process.env.npm_execpath ?? '';
  const [program, ...first] = /pnpm[^/\\]*$/.test(running) ? [process.execPath, running] : ['npx', '--yes', 'pnpm@10'];
  const shell = program === 'npx' && process.platform === 'win32';
  const { status, stdout, stderr } = spawnSync(/** @type {string} */ (program), [...first, ...args], { cwd: folder, encoding: 'utf8', shell });
  const start = stdout.search(/^[[{]$/m);
  if (status !== 0 || start < 0) throw new Error(`pnpm ${args.join(' ')}:\n${stdout}${stderr}`);
  return JSON.parse(stdout.slice(start));
}
