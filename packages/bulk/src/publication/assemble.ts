import type { Bytes, Signal } from '@bloom/bytes';
import { kindOf, mustBeArray, mustBeOptions, mustBeSignal, mustHaveAtMost, mustHaveMethods, numberOf } from '@bloom/bytes/internal';
import type { FileMetadata } from '@bloom/leveldb';
import type { Comparator } from '@bloom/sstable';
import { decodeInternalKey } from '@bloom/sstable/database';
import { comparatorOf } from '@bloom/sstable/internal';
import { BulkError } from '../part/bulk-error.js';
import { manifestName, numberOfSha256, parseObjectName, partName } from '../part/object-name.js';
import { metadataOf, type Part } from '../part/part.js';
import { sha256Hex } from '../part/sha256.js';
import { userKeyOf } from '../run/run.js';
import type { Store, StoredObject } from '../store/store.js';
import { sizeOf } from './listed-parts.js';
import { encodeManifest, LEVEL_COUNT, mustBeState, type PublishedPart, type PublishedState } from './publication.js';

/** How to assemble parts. */
export interface AssembleOptions {
  /** The current publication, as returned by {@link readPublication}. Omit it for the first publication, or to start again. */
  readonly previous?: PublishedState | undefined;
  /**
   * The published parts that were merged into the given ones: all parts that neighbouring levels had when they were merged, such as
   * `[...levels[5], ...levels[6]]`. If omitted, the parts are a delivery, and go into the level above all others.
   */
  readonly replaces?: readonly Pick<PublishedPart, 'number'>[] | undefined;
  /** The order of the keys. Default: bytewise. */
  readonly comparator?: Comparator | undefined;
  readonly signal?: Signal | undefined;
}

const ASSEMBLE_OPTIONS: Record<keyof AssembleOptions, true> = { previous: true, replaces: true, comparator: true, signal: true };

/** A database that can be published. */
export interface Assembly extends PublishedState {
  /** The MANIFEST. */
  readonly bytes: Bytes;
  /** Of `bytes`, in hexadecimal. */
  readonly sha256: string;
  /** The publication on which it is based, which must still be current when this one is published; undefined for the first. */
  readonly previous: PublishedState | undefined;
  /** The level into which the parts were put. */
  readonly level: number;
}

/**
 * Assembles parts into a database: the base, a delivery above what is published, or a merge of some of its levels.
 *
 * One listing of the store checks that it has every part, complete. Nothing is written.
 *
 * @param store the store of the parts. For several stores, an object whose `list` returns the objects of all of them.
 * @param parts in any order. A part of `previous` in a level that is replaced can be among them: it stays as it is. If they
 *   are exactly the parts of the lowest of several levels that are replaced, the merge was already published, and they are refused.
 * @throws BulkError `BLOOM_OVERLAP`, `BLOOM_MISSING_PART`, `BLOOM_OTHER_BYTES`, `BLOOM_OTHER_COMPARATOR`, `BLOOM_OLD_SEQUENCE` or
 *   `BLOOM_NO_LEVEL`; and what the store throws.
 */
export async function assemble(store: Pick<Store, 'name' | 'list'>, parts: readonly (Part | PublishedPart)[], options: AssembleOptions = {}): Promise<Assembly> {
  mustHaveAtMost('assemble', 'a store, parts and options', 3, arguments.length);
  mustHaveMethods('store', store, 'a store', ['list']);
  mustBeArray('parts', parts, 'parts');
  mustBeOptions('assemble', options, ASSEMBLE_OPTIONS);
  const { previous, signal } = options;
  const comparator = comparatorOf('comparator', options.comparator);
  if (options.replaces !== undefined) mustBePublishedParts(options.replaces);
  if (signal !== undefined) mustBeSignal('signal', signal);
  if (previous !== undefined) mustBeState('previous', previous);
  mustBeParts(parts);
  mustBeOfOrder(comparator.name, previous, parts);
  const added = parts.map((part) => ('sha256' in part ? { ...metadataOf(part), sequence: part.sequence } : part)).sort((a, b) => compareFirst(a, b, comparator));
  mustBeDisjoint(added, comparator);
  const replaces = options.replaces === undefined ? [] : levelsOf(options.replaces, previous);
  const { levels, level } = placed(added, previous, replaces);
  mustBeListedOnce(levels);
  mustGrow(added, levels, previous, level, replaces);
  await mustBeStored(store, levels.flat(), parts, signal);
  let lastSequence = previous?.lastSequence ?? 0n;
  for (const { sequence } of added) if (sequence > lastSequence) lastSequence = sequence;
  const bytes = encodeManifest(comparator.name, lastSequence, levels);
  const sha256 = await sha256Hex(bytes);
  return { manifest: manifestName(numberOfSha256(sha256)), comparator: comparator.name, lastSequence, levels, bytes, sha256, previous, level };
}

function mustBeOfOrder(name: string, previous: PublishedState | undefined, parts: readonly (Part | PublishedPart)[]): void {
  if (previous !== undefined && previous.comparator !== name) {
    throw new BulkError('BLOOM_OTHER_COMPARATOR', `the published database is sorted by the comparator ${previous.comparator}, but the parts by ${name}`);
  }
  for (const part of parts) {
    if (!('comparator' in part) || part.comparator === name) continue;
    throw new BulkError('BLOOM_OTHER_COMPARATOR', `${partName(part.number)} is sorted by the comparator ${part.comparator}, expected ${name}`, { file: partName(part.number) });
  }
}

function mustBeParts(parts: readonly unknown[]): void {
  for (const [i, part] of parts.entries()) {
    const { number, sequence } = Object(part) as Partial<Part>;
    if (typeof number !== 'bigint' || typeof sequence !== 'bigint') throw new TypeError(`parts[${i}] must be a part, as yielded by writeParts or returned by decodePart, got ${kindOf(part)}`);
  }
}

/** The levels that have parts. */
export function usedLevels(state: PublishedState | undefined): number[] {
  return (state?.levels ?? []).flatMap((parts, level) => (parts.length > 0 ? [level] : []));
}

function mustBePublishedParts(replaces: unknown): void {
  mustBeArray('replaces', replaces, 'published parts');
  for (const [i, part] of replaces.entries()) {
    if (typeof (part as Partial<PublishedPart> | null | undefined)?.number !== 'bigint') throw new TypeError(`replaces[${i}] must be a published part, such as one of levels[5], got ${typeof part}`);
  }
}

/** The levels of `previous` that consist of these parts. */
function levelsOf(replaces: readonly Pick<PublishedPart, 'number'>[], previous: PublishedState | undefined): number[] {
  const merged = new Set(replaces.map(({ number }) => number));
  const found = usedLevels(previous).filter((level) => previous!.levels[level]!.some(({ number }) => merged.has(number)));
  const parts = found.flatMap((level) => previous!.levels[level]!);
  const published = new Set(parts.map(({ number }) => number));
  const gone = replaces.find(({ number }) => !published.has(number));
  if (gone !== undefined) {
    const file = partName(gone.number);
    const problem = `the merged levels are no longer published: ${previous?.manifest ?? 'an empty store'} does not have ${file}. If this merge was published, nothing is left to do; otherwise merge the levels again`;
    throw new BulkError('BLOOM_OLD_MERGE', problem, { file });
  }
  const other = parts.find(({ number }) => !merged.has(number));
  if (other !== undefined) throw new RangeError(`replaces must have all parts of a level, but lacks ${partName(other.number)}`);
  return found;
}

/**
 * Places parts above the levels of `previous`, or where the levels were that they replace. Only the order of levels means something,
 * so that they are moved down to the lowest ones.
 */
function placed(added: readonly PublishedPart[], previous: PublishedState | undefined, replaces: readonly number[]): { levels: (readonly PublishedPart[])[]; level: number } {
  const used = usedLevels(previous);
  const kept = used.filter((level) => !replaces.includes(level));
  const above = replaces.length === 0 ? [] : kept.filter((level) => level < Math.min(...replaces));
  const below = kept.slice(above.length);
  if (below.some((level) => level < Math.max(...replaces, 0))) throw new RangeError(`replaces must be the parts of neighbouring levels, but has those of levels ${replaces.join(', ')}, and levels ${used.join(', ')} have parts`);
  const partsOf = (level: number): readonly PublishedPart[] => previous!.levels[level]!;
  const stack = [...above.map(partsOf), ...(added.length > 0 ? [added] : []), ...below.map(partsOf)];
  const empty = LEVEL_COUNT - stack.length;
  if (empty < 1) throw new BulkError('BLOOM_NO_LEVEL', 'each of the levels 1 to 6 has parts: merge two of them, and pass their parts in replaces');
  // No parts came into it where there is nothing left at all, which is a database too.
  return { levels: [...Array.from({ length: empty }, () => []), ...stack], level: Math.min(empty + above.length, LEVEL_COUNT - 1) };
}

function compareFirst(a: FileMetadata, b: FileMetadata, comparator: Comparator): number {
  return comparator.compare(userKeyOf(a.smallest), userKeyOf(b.smallest));
}

function mustBeDisjoint(parts: readonly FileMetadata[], comparator: Comparator): void {
  for (const [i, part] of parts.entries()) {
    const name = partName(part.number);
    const before = parts[i - 1];
    if (comparator.compare(userKeyOf(part.smallest), userKeyOf(part.largest)) > 0) throw new BulkError('BLOOM_OVERLAP', `the last key of ${name} is before its first`, { file: name });
    if (before === undefined || comparator.compare(userKeyOf(before.largest), userKeyOf(part.smallest)) < 0) continue;
    throw new BulkError('BLOOM_OVERLAP', before.number === part.number ? `${name} is given twice` : `${partName(before.number)} and ${name} overlap`, { file: name });
  }
}

function mustBeListedOnce(levels: readonly (readonly FileMetadata[])[]): void {
  const seen = new Set<bigint>();
  for (const { number } of levels.flat()) {
    if (seen.has(number)) throw new BulkError('BLOOM_OVERLAP', `${partName(number)} is in two levels`, { file: partName(number) });
    seen.add(number);
  }
}

/** Checks that the parts added to a level are newer than those of all levels below it, by their sequences, as in LevelDB. */
function mustGrow(added: readonly PublishedPart[], levels: readonly (readonly PublishedPart[])[], previous: PublishedState | undefined, level: number, replaces: readonly number[]): void {
  const sequences = (among: readonly (readonly PublishedPart[])[]): bigint[] => among.flat().map(({ sequence }) => sequence);
  const refuse = (sequence: bigint, bound: string): never => {
    throw new BulkError('BLOOM_OLD_SEQUENCE', `a part for level ${level} has the sequence ${sequence}, which is not ${bound}. If these parts were published and have been merged since, nothing is left to do; otherwise write them again with another sequence`);
  };
  const below = highest(sequences(levels.slice(level + 1)));
  const above = sequences(levels.slice(0, level)).reduce<bigint | undefined>((least, sequence) => (least === undefined || sequence < least ? sequence : least), undefined);
  const isDelivery = previous !== undefined && replaces.length === 0;
  for (const sequence of sequences([added])) {
    if (below !== undefined && sequence <= below) refuse(sequence, `above ${below}, the sequence of a level below`);
    if (above !== undefined && sequence >= above) refuse(sequence, `below ${above}, the sequence of a level above`);
    // Readers recognize a new publication by its sequence.
    if (isDelivery && sequence <= previous.lastSequence) refuse(sequence, `above ${previous.lastSequence}, the last one published`);
  }
}

function highest(sequences: readonly bigint[]): bigint | undefined {
  return sequences.reduce<bigint | undefined>((most, sequence) => (most === undefined || sequence > most ? sequence : most), undefined);
}

/** @throws BulkError unless the store has all parts, each with the right number of bytes and, if the store knows it, the right SHA-256. */
async function mustBeStored(store: Pick<Store, 'name' | 'list'>, listed: readonly FileMetadata[], parts: readonly (Part | PublishedPart)[], signal: Signal | undefined): Promise<void> {
  const stored = new Map<bigint, StoredObject>();
  for await (const object of store.list(signal)) {
    const name = parseObjectName(object.name);
    if (name?.type === 'part') stored.set(name.number, object);
  }
  const described = new Map(parts.map((part) => [part.number, 'sha256' in part ? part.sha256 : undefined]));
  for (const { number, size, smallest } of listed) {
    const file = partName(number);
    const object = stored.get(number);
    if (object === undefined) throw new BulkError('BLOOM_MISSING_PART', `${store.name} does not have ${file}`, { file });
    const sha256 = described.get(number);
    if (object.byteLength !== size || (object.sha256 !== undefined && sha256 !== undefined && object.sha256 !== sha256)) {
      throw new BulkError('BLOOM_OTHER_BYTES', `${file} in ${store.name} has ${numberOf(object.byteLength, 'byte')}, expected ${size} with the SHA-256 ${sha256 ?? 'in its name'}`, { file });
    }
    if (decodeInternalKey(smallest) === undefined) throw new BulkError('BLOOM_BAD_PART', `the first key of ${file} is too short for an internal key`, { file });
  }
}

/**
 * The two levels to merge before the next delivery: the neighbours with the fewest bytes. Undefined while a level is free for
 * the delivery.
 */
export function levelsToMerge(state: PublishedState): [upper: number, lower: number] | undefined {
  const used = usedLevels(state);
  if (used.length < LEVEL_COUNT - 1) return undefined;
  const pairs = used.slice(1).map((lower, i) => ({ pair: [used[i]!, lower] as [number, number], bytes: sizeOf(state.levels[used[i]!]!) + sizeOf(state.levels[lower]!) }));
  return pairs.reduce((least, one) => (one.bytes < least.bytes ? one : least)).pair;
}
