// Packs what would be published and looks at the packed files, not at the folders.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** @typedef {{ name: string, private?: boolean, exports: Record<string, unknown> }} Manifest */

const root = join(import.meta.dirname, '../..');
const attwManifest = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json');
const attw = join(dirname(attwManifest), 'dist/index.js');

/** @param {string} folder */
function readManifest(folder) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return /** @type {Manifest} */ (manifest);
}

/**
 * @param {string} folder
 * @param {string} destination
 * @returns {Promise<string[]>} what is wrong
 */
async function check(folder, destination) {
  const manifest = readManifest(folder);
  const pack = ['pack', '--json', '--pack-destination', destination];
  /** @type {unknown} */
  const summary = JSON.parse(execFileSync('pnpm', pack, { cwd: folder, encoding: 'utf8' }));
  const { filename } = /** @type {{ filename: string }} */ (summary);
  const files = execFileSync('tar', ['-tzf', filename], { encoding: 'utf8' }).split('\n');
  const problems = [];

  for (const wanted of ['README.md', 'LICENSE']) {
    if (!files.includes(`package/${wanted}`)) problems.push(`no ${wanted}`);
  }

  const packedManifest = execFileSync('tar', ['-xzOf', filename, 'package/package.json'], { encoding: 'utf8' });
  for (const word of ['bloom-source', 'workspace:', 'catalog:', './src/']) {
    if (packedManifest.includes(word)) problems.push(`package.json still holds ${word}`);
  }

  const tarball = readFileSync(filename);
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true });
  for (const message of messages) {
    if (message.type !== 'suggestion') problems.push(`publint: ${formatMessage(message, pkg) ?? message.code}`);
  }

  if (Object.keys(manifest.exports).some((entry) => entry !== './package.json')) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [attw, filename, '--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji'],
      { encoding: 'utf8' },
    );
    if (status !== 0) problems.push(`attw: ${stdout}${stderr}`);
  }
  return problems;
}

const destination = mkdtempSync(join(tmpdir(), 'bloom-packages-'));
let failures = 0;
try {
  for (const group of ['packages', 'apps']) {
    for (const name of readdirSync(join(root, group))) {
      const folder = join(root, group, name);
      if (readManifest(folder).private) continue;
      const problems = await check(folder, destination);
      failures += problems.length;
      console.log([`${group}/${name}: ${problems.length === 0 ? 'ok' : ''}`, ...problems].join('\n  '));
    }
  }
} finally {
  rmSync(destination, { recursive: true });
}
process.exitCode = failures === 0 ? 0 : 1;
