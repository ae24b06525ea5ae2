// `--dry-run` shows the versions, changelogs and files of the next release, from a copy. `version` and `publish` are the two steps of the
// release workflow.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packAll } from '@bloom/package-check/pack.js';
import { checkFiles } from '@bloom/package-check/packed-files.js';
import { pnpmJson } from '@bloom/package-check/pnpm.js';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';
import { changeset } from './changesets.js';
import { copyWorkspace } from './workspace-copy.js';

/** @import { Packed } from '@bloom/package-check/pack.js' */
/** @import { Package } from '@bloom/package-check/published-packages.js' */

const shell = process.platform === 'win32';
const npm = shell ? 'npm.cmd' : 'npm';

/**
 * @param {string} changelog
 * @param {string} version
 * @returns {string} its section about the version
 */
function sectionOf(changelog, version) {
  return changelog.split(/^## /m).find((section) => section.startsWith(`${version}\n`))?.slice(version.length).trim() ?? '';
}

/**
 * @param {string} folder of the package
 * @returns {string[]} the files that `pnpm publish` would publish
 */
function filesToPublish(folder) {
  const summary = pnpmJson(['publish', '--dry-run', '--json', '--no-git-checks'], folder);
  const [published] = Object.values(/** @type {Record<string, { files: { path: string }[] }>} */ (summary));
  return (published?.files ?? []).map(({ path }) => path);
}

/** Shows what a release would do, and checks the files of each package. */
function dryRun() {
  const copy = mkdtempSync(join(tmpdir(), 'bloom-release-'));
  try {
    copyWorkspace(copy);
    const waiting = readdirSync(join(copy, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
    if (waiting.length > 0) changeset(['version'], copy);
    console.log(`${waiting.length} changesets\n`);

    for (const { path, manifest: before } of publishedPackages()) {
      const folder = join(copy, path);
      /** @type {unknown} */
      const content = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const manifest = /** @type {Package['manifest']} */ (content);
      const files = filesToPublish(folder);
      const problems = checkFiles(manifest, files, readFileSync(join(folder, 'README.md'), 'utf8'));
      const moved = manifest.version === before.version ? manifest.version : `${before.version} to ${manifest.version}`;
      console.log(`${manifest.name} ${moved}: ${files.length} files${problems.length === 0 ? '' : `\n  ${problems.join('\n  ')}`}`);
      const changelog = join(folder, 'CHANGELOG.md');
      const section = existsSync(changelog) ? sectionOf(readFileSync(changelog, 'utf8'), manifest.version) : '';
      console.log(section.replace(/^(?=.)/gm, '  '), '\n');
      if (problems.length > 0) process.exitCode = 1;
    }
    console.log('The release workflow publishes the versions that are not on the registry yet, with provenance (.github/workflows/release.yml).');
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Publishes the packages whose versions are not on the registry, dependencies first, and tags them. */
function publish() {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-publish-'));
  try {
    for (const { manifest, tarball } of inOrder(packAll(folder))) {
      if (isOnRegistry(`${manifest.name}@${manifest.version}`)) continue;
      execFileSync(npm, ['publish', tarball, '--access', 'public', '--provenance'], { stdio: 'inherit', shell });
    }
    // The release workflow reads the tags from this output.
    console.log(changeset(['tag'], root));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {readonly Packed[]} packages
 * @returns {Packed[]} dependencies before their dependents
 */
function inOrder(packages) {
  /** @type {Set<Packed>} */
  const ordered = new Set();
  /** @param {Packed} packed */
  function add(packed) {
    const dependencies = Object.keys(packed.manifest.dependencies ?? {});
    packages.filter(({ manifest }) => dependencies.includes(manifest.name)).forEach(add);
    ordered.add(packed);
  }
  packages.forEach(add);
  return [...ordered];
}

/** @param {string} version such as `@bloom/hash@1.0.0` */
function isOnRegistry(version) {
  const { status, stdout, stderr } = spawnSync(npm, ['view', version, 'version'], { encoding: 'utf8', shell });
  if (status !== 0 && !stderr.includes('E404')) throw new Error(stderr);
  return stdout.trim() !== '';
}

const [step] = process.argv.slice(2);
if (step === '--dry-run') dryRun();
else if (step === 'version') {
  console.log(changeset(['version'], root));
  execFileSync(process.execPath, [join(root, 'tooling/package-check/metadata.js'), '--write'], { stdio: 'inherit' });
} else if (step === 'publish') publish();
else {
  console.error('usage: npx pnpm@10 release --dry-run | version | publish');
  process.exitCode = 2;
}
