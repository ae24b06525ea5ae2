import { CorruptionError, type Signal, UnsupportedError } from '@bloom/bytes';
import { mustBeOptions, mustBeSignal, mustHaveMethods, numberOf, sameBytes } from '@bloom/bytes/internal';
import { type Codec, type Comparator, MemorySource, Table } from '@bloom/sstable';
import { decodeInternalKey, DELETION, internalTableOptions, VALUE } from '@bloom/sstable/database';
import { comparatorOf, decodingFor, mustBePolicies } from '@bloom/sstable/internal';
import { type Unchecked, verifyTable } from '@bloom/sstable/inspect';
import type { FilterPolicy } from '@bloom/policy';
import { BulkError } from '../part/bulk-error.js';
import { numberOfSha256, partName } from '../part/object-name.js';
import { sha256Hex } from '../part/sha256.js';
import type { Store } from '../store/store.js';
import { forEachPart, sizeOf, storedLengths } from './listed-parts.js';
import { type PublishedPart, readPublication } from './publication.js';

/** How to verify. */
export interface VerifyPublishedOptions {
  /**
   * `'entries'` reads each part and checks its bytes, its blocks, its filters and its entries. `'bytes'` checks only that the bytes match
   * the name. `'names'` checks only that the store has the parts with the right lengths. Default: `'entries'`.
   */
  readonly depth?: 'names' | 'bytes' | 'entries' | undefined;
  /** The order of the keys. Default: bytewise. `null`: the order is unknown, and is not checked. */
  readonly comparator?: Comparator | null | undefined;
  readonly filterPolicies?: readonly FilterPolicy[] | undefined;
  readonly codecs?: readonly Codec[] | undefined;
  /** The most bytes that a block may have, as for readers. Default: 256 MiB. */
  readonly maxBlockBytes?: number | undefined;
  readonly signal?: Signal | undefined;
}

const VERIFY_OPTIONS: Record<keyof VerifyPublishedOptions, true> = { depth: true, comparator: true, filterPolicies: true, codecs: true, maxBlockBytes: true, signal: true };

/** A problem of a published database. */
export interface PublishedFinding {
  /** The object. */
  readonly file: string;
  /** A code of this package, or of `@bloom/sstable`. */
  readonly code: string;
  readonly problem: string;
}

/** What could not be checked of a part. */
export interface UncheckedInPart extends Unchecked {
  /** The object. */
  readonly file: string;
}

/** What a verification found. */
export interface PublishedReport {
  /** The name of the MANIFEST. */
  readonly manifest: string;
  readonly parts: number;
  /** Bytes of all parts. */
  readonly byteLength: number;
  /** Entries of all parts, deletions included; 0 unless the depth is `'entries'`. */
  readonly entries: number;
  /** Empty if there are no problems. */
  readonly findings: readonly PublishedFinding[];
  /** What could not be checked, such as filters of a policy that was not passed. Empty unless the depth is `'entries'`. */
  readonly unchecked: readonly UncheckedInPart[];
}

/**
 * Verifies what is published: CURRENT, the MANIFEST, and each part.
 *
 * @throws BulkError `BLOOM_NOT_PUBLISHED` when there is no CURRENT, or CURRENT or the MANIFEST is not as this package wrote it;
 *   `BLOOM_OTHER_COMPARATOR` when the published database has another order.
 * @throws CorruptionError `BLOOM_MISSING_FILE` when the MANIFEST is missing; and what the store throws.
 */
export async function verifyPublished(store: Store, options: VerifyPublishedOptions = {}): Promise<PublishedReport> {
  mustHaveMethods('store', store, 'a store', ['get', 'list']);
  mustBeOptions('verifyPublished', options, VERIFY_OPTIONS);
  const { depth = 'entries', signal } = options;
  if (!['names', 'bytes', 'entries'].includes(depth)) throw new RangeError(`depth must be 'names', 'bytes' or 'entries', got ${depth}`);
  const comparator = options.comparator === null ? undefined : comparatorOf('comparator', options.comparator);
  decodingFor(options);
  if (options.filterPolicies !== undefined) mustBePolicies(options.filterPolicies);
  if (signal !== undefined) mustBeSignal('signal', signal);
  const publication = await readPublication(store, signal);
  if (publication === undefined) throw new BulkError('BLOOM_NOT_PUBLISHED', `${store.name} has no CURRENT`);
  if (comparator !== undefined && publication.comparator !== comparator.name) {
    throw new BulkError('BLOOM_OTHER_COMPARATOR', `the published database is sorted by the comparator ${publication.comparator}, expected ${comparator.name}`);
  }
  const findings: PublishedFinding[] = [...levelFindings(publication.levels, comparator)];
  const unchecked: UncheckedInPart[] = [];
  const parts = publication.levels.flat();
  const lengths = await storedLengths(store, signal);
  let entries = 0;
  await forEachPart(parts, async (part) => {
    const file = partName(part.number);
    const add = (code: string, problem: string): void => void findings.push({ file, code, problem });
    const byteLength = lengths.get(file);
    if (byteLength === undefined) add('BLOOM_MISSING_PART', `${store.name} does not have it`);
    else if (byteLength !== part.size) add('BLOOM_OTHER_BYTES', `it has ${numberOf(byteLength, 'byte')}, but ${part.size} according to the MANIFEST`);
    else if (depth !== 'names') {
      // Not added in one expression, in which the sum would be that from before the part was read.
      const verified = await verifyPart(store, part, options, comparator, add, unchecked);
      entries += verified;
    }
  });
  for (const list of [findings, unchecked]) list.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
  return { manifest: publication.manifest, parts: parts.length, byteLength: sizeOf(parts), entries, findings, unchecked };
}

/** Problems of the order of parts. */
function* levelFindings(levels: readonly (readonly PublishedPart[])[], comparator: Comparator | undefined): Generator<PublishedFinding, void, undefined> {
  let above: bigint | undefined;
  for (const parts of levels) {
    let least = above;
    for (const [i, part] of parts.entries()) {
      const file = partName(part.number);
      const before = parts[i - 1];
      if (before !== undefined && comparator !== undefined && comparator.compare(before.largest.subarray(0, -8), part.smallest.subarray(0, -8)) >= 0) {
        yield { file, code: 'BLOOM_OVERLAP', problem: `it overlaps ${partName(before.number)}, or its keys are before those of that part` };
      }
      if (above !== undefined && part.sequence >= above) yield { file, code: 'BLOOM_OLD_SEQUENCE', problem: `its sequence ${part.sequence} is not below ${above}, the sequence of a level above` };
      if (least === undefined || part.sequence < least) least = part.sequence;
    }
    above = least;
  }
}

/** Reads and checks a part. @returns the number of entries that were checked. */
async function verifyPart(
  store: Store,
  part: PublishedPart,
  { depth, filterPolicies, codecs, maxBlockBytes, signal }: VerifyPublishedOptions,
  comparator: Comparator | undefined,
  add: (code: string, problem: string) => void,
  unchecked: UncheckedInPart[],
): Promise<number> {
  const file = partName(part.number);
  const found = await store.get(file, signal);
  if (found === undefined) {
    add('BLOOM_MISSING_PART', `${store.name} does not have it`);
    return 0;
  }
  const number = numberOfSha256(await sha256Hex(found.bytes));
  if (number !== part.number) {
    add('BLOOM_OTHER_BYTES', `its bytes are those of ${partName(number)}`);
    return 0;
  }
  if (depth === 'bytes') return 0;
  const source = new MemorySource(found.bytes, file);
  // If the order is unknown, any will do: the entries are read from the first to the last.
  const tableOptions = internalTableOptions({ comparator, filterPolicies, codecs, maxBlockBytes });
  const verified = await verifyTable(source, { comparator: comparator === undefined ? null : tableOptions.comparator, filterPolicies: tableOptions.filterPolicies, codecs, maxBlockBytes, signal });
  for (const { code, problem } of verified.findings) add(code, problem);
  for (const one of verified.unchecked) unchecked.push({ file, ...one });
  let entries = 0;
  try {
    const table = await Table.open(source, { ...tableOptions, cache: null });
    const cursor = table.cursor({ fillCache: false });
    let first: Uint8Array | undefined;
    let last: Uint8Array | undefined;
    await cursor.seekToFirst();
    for (let some = await cursor.nextMany(1024); some.length > 0; some = await cursor.nextMany(1024)) {
      entries += some.length;
      first ??= some[0]![0];
      last = some.at(-1)![0];
      for (const [key] of some) {
        const { sequence, type } = decodeInternalKey(key) ?? {};
        if (sequence === part.sequence && (type === VALUE || type === DELETION)) continue;
        add('BLOOM_BAD_INTERNAL_KEY', `an entry has the sequence ${sequence ?? 'none'} and the type ${type ?? 'none'}, but the part has the sequence ${part.sequence}`);
        break;
      }
    }
    const hasBounds = first !== undefined && last !== undefined && sameBytes(first, part.smallest) && sameBytes(last, part.largest);
    if (!hasBounds) add('BLOOM_BAD_VERSION', 'its first and last keys differ from those in the MANIFEST');
  } catch (error) {
    if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    add(error.code, error.problem);
  }
  return entries;
}
