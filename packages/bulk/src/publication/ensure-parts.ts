import type { Signal } from '@bloom/bytes';
import { mustBeOptions, mustBeSignal, mustHaveAtMost, mustHaveMethods, numberOf } from '@bloom/bytes/internal';
import { BulkError } from '../part/bulk-error.js';
import { numberOfSha256, partName } from '../part/object-name.js';
import { sha256Hex } from '../part/sha256.js';
import { createObject, RENEWAL_MS } from '../store/create-object.js';
import { ageMsOf, type ReadObject, type Store } from '../store/store.js';
import { forEachPart, sizeOf, storedLengths } from './listed-parts.js';
import { mustBeState, type PublishedPart, type PublishedState } from './publication.js';

/** Where parts come from. */
export interface EnsurePartsOptions {
  /** The store that has the new parts. Default: the same store, whose parts are then only checked. */
  readonly from?: Store | undefined;
  /** The current publication. Its parts are not read; only their presence is checked. */
  readonly previous?: PublishedState | undefined;
  readonly signal?: Signal | undefined;
}

const ENSURE_PARTS_OPTIONS: Record<keyof EnsurePartsOptions, true> = { from: true, previous: true, signal: true };

/** What was copied. */
export interface EnsuredParts {
  /** How many parts are new. */
  readonly parts: number;
  /** Their bytes. */
  readonly byteLength: number;
}

/**
 * Makes sure that a store has each part of an assembly with the right bytes, and copies new parts from another store. Call it
 * before `publish` if the parts were not written to this store.
 *
 * @throws BulkError `BLOOM_MISSING_PART` or `BLOOM_OTHER_BYTES`; and what the stores throw.
 */
export async function ensureParts(store: Store, assembly: PublishedState, options: EnsurePartsOptions = {}): Promise<EnsuredParts> {
  mustHaveAtMost('ensureParts', 'a store, an assembly and options', 3, arguments.length);
  mustHaveMethods('store', store, 'a store', ['get', 'head', 'create', 'put', 'list']);
  mustBeOptions('ensureParts', options, ENSURE_PARTS_OPTIONS);
  const { from = store, previous, signal } = options;
  mustHaveMethods('from', from, 'a store', ['get']);
  if (signal !== undefined) mustBeSignal('signal', signal);
  mustBeState('assembly', assembly);
  if (previous !== undefined) mustBeState('previous', previous);
  const before = new Set(previous?.levels.flat().map(({ number }) => number));
  const listed = assembly.levels.flat();
  await mustBeListed(
    store,
    listed.filter(({ number }) => before.has(number)),
    signal,
  );
  const added = listed.filter(({ number }) => !before.has(number));
  await forEachPart(added, (part) => (from === store ? check(store, part, signal) : copy(from, store, part, signal)));
  return { parts: added.length, byteLength: sizeOf(added) };
}

async function mustBeListed(store: Store, parts: readonly PublishedPart[], signal: Signal | undefined): Promise<void> {
  if (parts.length === 0) return;
  const lengths = await storedLengths(store, signal);
  for (const { number, size } of parts) {
    const file = partName(number);
    const byteLength = lengths.get(file);
    if (byteLength === undefined) throw missing(store, file);
    if (byteLength !== size) throw otherBytes(store, file, `it has ${numberOf(byteLength, 'byte')}, expected ${size}`);
  }
}

async function copy(from: Store, to: Store, part: PublishedPart, signal: Signal | undefined): Promise<void> {
  const name = partName(part.number);
  const { bytes, sha256 } = await soundBytes(from, part, signal);
  await createObject(to, { name, bytes, sha256 }, signal);
}

async function check(store: Store, part: PublishedPart, signal: Signal | undefined): Promise<void> {
  const name = partName(part.number);
  const found = await store.head(name, signal);
  if (found === undefined) throw missing(store, name);
  const isOld = ageMsOf(found) >= RENEWAL_MS;
  const isSha256 = found.sha256 !== undefined && /^[0-9a-f]{64}$/.test(found.sha256);
  const isKnown = isSha256 && numberOfSha256(found.sha256) === part.number && found.byteLength === part.size;
  if (isKnown && !isOld) return;
  const { bytes, sha256 } = await soundBytes(store, part, signal);
  // The part is renewed, so that it is not deleted as garbage before it is published.
  if (isOld) await store.put({ name, bytes, sha256 }, signal);
}

async function soundBytes(store: Store, part: PublishedPart, signal: Signal | undefined): Promise<ReadObject & { readonly sha256: string }> {
  const file = partName(part.number);
  const found = await store.get(file, signal);
  if (found === undefined) throw missing(store, file);
  const sha256 = await sha256Hex(found.bytes);
  const number = numberOfSha256(sha256);
  if (number !== part.number) throw otherBytes(store, file, `its bytes are those of ${partName(number)}`);
  return { ...found, sha256 };
}

function missing(store: Store, file: string): BulkError {
  return new BulkError('BLOOM_MISSING_PART', `${store.name} does not have ${file}`, { file });
}

function otherBytes(store: Store, file: string, problem: string): BulkError {
  return new BulkError('BLOOM_OTHER_BYTES', `${store.name} has other bytes under the name ${file}: ${problem}`, { file });
}
