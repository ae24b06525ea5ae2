// Packs the published packages, which must be built, into a folder, and prints their checksums. `--twice` builds
// everything again, without caches, packs it again and compares the bytes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packAll } from './pack.js';
import { root } from './published-packages.js';
import { checkReproduced, sha256 } from './reproduced.js';

const { positionals, values } = parseArgs({ allowPositionals: true, options: { twice: { type: 'boolean', default: false } } });
const destination = resolve(root, positionals[0] ?? 'packed');
mkdirSync(destination, { recursive: true });
for (const name of readdirSync(destination)) {
  if (/^bloom-.*\.tgz$/.test(name)) rmSync(join(destination, name));
}
const packages = packAll(destination);
for (const { tarball } of packages) console.log(`${sha256(tarball)}  ${basename(tarball)}`);

if (values.twice) {
  const again = mkdtempSync(join(tmpdir(), 'bloom-packed-again-'));
  try {
    execFileSync('pnpm', ['build', '--force', '--output-logs=errors-only'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
    const problems = checkReproduced(packages, packAll(again));
    console.log(problems.length === 0 ? 'Building and packing again gives the same bytes.' : problems.join('\n'));
    if (problems.length > 0) process.exitCode = 1;
  } finally {
    rmSync(again, { recursive: true });
  }
}
