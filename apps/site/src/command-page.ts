import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@bloom/package-check/published-packages.js';

/** The reference of the command line, as the command itself prints it. */
export function commandPage(): string {
  const program = join(root, 'apps/cli/dist/bloom.cjs');
  if (!existsSync(program)) throw new Error('build the command first: npx pnpm@10 build');
  return `---\noutline: [2, 3]\n---\n\n${execFileSync(process.execPath, [program, 'completion', 'markdown'], { encoding: 'utf8' })}`;
}
