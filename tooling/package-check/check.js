// Packs the packages as they would be published, and checks the packed files, not the folders.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemKindInfo } from '@arethetypeswrong/core/problems';
import { sideBySide } from '@bloom/checks/side-by-side.js';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { checkConsumerTypes } from './consumer-types.js';
import { checkCopiedExample } from './copied-example.js';
import { checkInstalledSizes } from './installed-size.js';
import { packAll } from './pack.js';
import { checkFiles } from './packed-files.js';
import { checkReproduced } from './reproduced.js';

/** @import { Packed } from './pack.js' */

/**
 * @param {Packed} packed
 * @returns {Promise<string[]>} the problems
 */
async function check({ manifest, tarball }) {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const readme = execFileSync('tar', ['-xzOf', tarball, 'package/README.md'], { encoding: 'utf8' });
  const problems = checkFiles(manifest, files.map((file) => file.replace(/^package\//, '')), readme);

  const packedManifest = execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' });
  for (const word of ['bloom-source', 'workspace:', 'catalog:', './src/']) {
    if (packedManifest.includes(word)) problems.push(`package.json still contains ${word}`);
  }

  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer }, strict: true });
  for (const message of messages) {
    if (message.type !== 'suggestion') problems.push(`publint: ${formatMessage(message, pkg) ?? message.code}`);
  }

  if (Object.keys(manifest.exports).some((entry) => entry !== './package.json')) {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))));
    for (const problem of analysis.types === false ? [] : analysis.problems) {
      // No TypeScript that the packages support resolves imports as Node 10 did.
      if ('resolutionKind' in problem && problem.resolutionKind === 'node10') continue;
      problems.push(`types: ${problemKindInfo[problem.kind].description} ${JSON.stringify(problem)}`);
    }
  }
  return problems;
}

/**
 * @param {string} subject
 * @param {readonly string[]} problems
 */
function report(subject, problems) {
  console.log([`${subject}: ${problems.length === 0 ? 'ok' : ''}`, ...problems].join('\n  '));
  if (problems.length > 0) process.exitCode = 1;
}

const folder = mkdtempSync(join(tmpdir(), 'bloom-packages-'));
try {
  const packages = packAll(folder);
  for (const { path, problems } of await sideBySide(packages, async (packed) => ({ path: packed.path, problems: await check(packed) }))) report(path, problems);
  const again = join(folder, 'again');
  mkdirSync(again);
  report('packing twice gives the same bytes', checkReproduced(packages, packAll(again)));
  const consumer = join(folder, 'consumer');
  mkdirSync(consumer);
  report('types compile in a program that uses the packages', await checkConsumerTypes(packages, consumer));
  const project = join(folder, 'project');
  mkdirSync(project);
  report('installed sizes', checkInstalledSizes(packages, project));
  const example = join(folder, 'example');
  mkdirSync(example);
  report('the example works when copied', checkCopiedExample(packages, example));
} finally {
  rmSync(folder, { recursive: true });
}
