import { type Assembly, BulkError, ensureParts, publish, type Publication, readManifest, readPublication, type Store } from '@bloom/bulk';
import { parseObjectName } from '@bloom/bulk/internal';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { nameOfFile, readWholeText } from '../inputs/standard-input.js';
import { STORE_HELP } from '../inputs/input-help.js';
import { storeFailure, storeOf } from '../inputs/store-argument.js';
import { interruptible } from '../interruption.js';
import { printJson } from '../outputs/output.js';
import type { AssemblyLine } from './assemble.js';

interface PublishCommandOptions {
  readonly ifMatch?: string;
}

export function addPublish(program: Command): void {
  program
    .command('publish')
    .summary('publish a database made of parts')
    .description(
      'Publishes a database that bloom bulk assemble made. Copies new parts from FROM to STORE and checks each of them. Then points CURRENT at the new MANIFEST, if the database that it was assembled on is still published. CURRENT always names a complete database. ' +
        'Prints one JSON object. Exits with 1 if another publication came first: then assemble and publish again.',
    )
    .argument('<assembly>', 'what bloom bulk assemble printed; - is standard input')
    .argument('<from>', 'where the parts and the MANIFEST are')
    .argument('[store]', 'where to publish (default: where the parts are)')
    .option('--if-match <manifest>', 'publish only if this MANIFEST is published now, or, with none, if nothing is (default: the one that the database was assembled on)')
    .addHelpText(
      'after',
      `${STORE_HELP}
The same command can run again: it prints "isNew": false if its database is
published already.

A database that was assembled without --previous replaces a published one only
with --if-match and the name of that one's MANIFEST, which the command prints as
"current" when it exits with 1.

Examples:
  bloom bulk publish assembly.json parts s3://data/words
  bloom bulk publish assembly.json /srv/www/words --if-match none`,
    )
    .action(publishAssembly);
}

async function publishAssembly(assemblyPath: string, fromPath: string, storePath: string | undefined, options: PublishCommandOptions): Promise<void> {
  const line = assemblyIn(assemblyPath);
  const { ifMatch } = options;
  if (ifMatch !== undefined && ifMatch !== 'none' && parseObjectName(ifMatch)?.type !== 'manifest') throw new Failure(`--if-match ${ifMatch}: must be the name of a MANIFEST, or none`);
  const expected = ifMatch === undefined ? line.previous : ifMatch === 'none' ? null : ifMatch;
  const from = storeOf(fromPath);
  const store = storePath === undefined || storePath === fromPath ? from : storeOf(storePath);
  let outcome: object;
  try {
    outcome = await interruptible((signal) => published(line.manifest, from, store, expected, signal));
  } catch (error) {
    if (!(error instanceof BulkError && error.code === 'BLOOM_CONFLICT')) throw storeFailure(error);
    process.exitCode = EXIT.no;
    const current = await readPublication(store).catch((failure: unknown) => {
      throw storeFailure(failure);
    });
    outcome = { manifest: line.manifest, isPublished: false, code: error.code, expected, current: current?.manifest ?? null, lastSequence: current?.lastSequence.toString() ?? null };
  }
  await printJson(outcome);
}

async function published(manifest: string, from: Store, store: Store, expected: string | null, signal: AbortSignal): Promise<object> {
  const current: Publication | undefined = await readPublication(store, signal);
  if (current?.manifest === manifest) return { manifest, isPublished: true, isNew: false, previous: expected === manifest ? null : expected, newParts: 0, newBytes: 0 };
  // Reported before parts are copied, because they would not be needed.
  if ((current?.manifest ?? null) !== expected) throw new BulkError('BLOOM_CONFLICT', 'another publication came first');
  const assembly: Assembly = { ...(await readManifest(from, manifest, signal)), previous: current, level: 0 };
  const { parts, byteLength } = await ensureParts(store, assembly, { from, previous: current, signal });
  const { isNew } = await publish(store, assembly, { ifMatch: current?.etag ?? null, signal });
  return { manifest, isPublished: true, isNew, previous: expected, newParts: parts, newBytes: byteLength };
}

function assemblyIn(path: string): Pick<AssemblyLine, 'manifest' | 'previous'> {
  const name = nameOfFile(path);
  const text = readWholeText(path);
  if (text.trim() === '') throw new Failure(`${name}: is empty: did bloom bulk assemble fail?`);
  const isManifest = (value: unknown): value is string => typeof value === 'string' && parseObjectName(value)?.type === 'manifest';
  try {
    const { manifest, previous } = JSON.parse(text) as Partial<AssemblyLine>;
    if (isManifest(manifest) && (previous === null || isManifest(previous))) return { manifest, previous };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new Failure(`${name}: is not what bloom bulk assemble prints`);
}
