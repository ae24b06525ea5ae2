/**
 * The description of a part, and its form as a line of JSON, which tasks of a job pass to each other:
 *
 *     {"number":"1262190158462219392","bytes":16793600,"sha256":"46107f…","comparator":"leveldb.BytewiseComparator",
 *      "sequence":"7","entries":140000,"deletions":0,"first":"6b6579","firstKind":"value","last":"6b7a","lastKind":"value"}
 *
 * Keys are in hexadecimal, and numbers that may have more than 53 bits are strings.
 */
import { kindOf } from '@bloom/bytes/internal';
import type { FileMetadata } from '@bloom/leveldb';
import { DELETION, encodeInternalKey, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { BulkError } from './bulk-error.js';
import { NUMBER_LIMIT, numberOfSha256 } from './object-name.js';
import { fromHex, toHex } from './sha256.js';

/** Whether an entry gives its key a value or deletes it. */
export type PartKind = 'value' | 'deletion';

/** A part: one table, whose entries all have the same sequence. */
export interface Part {
  /** The first 62 bits of `sha256`, which name the file. */
  readonly number: bigint;
  /** Bytes of the file. */
  readonly byteLength: number;
  /** The SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
  /** The name of the comparator. */
  readonly comparator: string;
  readonly sequence: bigint;
  /** Entries, including deletions. */
  readonly entries: number;
  readonly deletions: number;
  /** The first key. */
  readonly first: Uint8Array;
  readonly firstKind: PartKind;
  /** The last key. */
  readonly last: Uint8Array;
  readonly lastKind: PartKind;
}

/** The part as a MANIFEST lists it. */
export function metadataOf({ number, byteLength, sequence, first, firstKind, last, lastKind }: Part): FileMetadata {
  const stored = (userKey: Uint8Array, kind: PartKind): Uint8Array => encodeInternalKey({ userKey, sequence, type: kind === 'value' ? VALUE : DELETION });
  return { number, size: byteLength, smallest: stored(first, firstKind), largest: stored(last, lastKind) };
}

/** The part as a line of JSON, without a newline. */
export function encodePart(part: Part): string {
  return JSON.stringify({
    number: part.number.toString(),
    bytes: part.byteLength,
    sha256: part.sha256,
    comparator: part.comparator,
    sequence: part.sequence.toString(),
    entries: part.entries,
    deletions: part.deletions,
    first: toHex(part.first),
    firstKind: part.firstKind,
    last: toHex(part.last),
    lastKind: part.lastKind,
  });
}

/** The part of a line of JSON. @throws BulkError `BLOOM_BAD_PART` when it is not one that {@link encodePart} writes. */
export function decodePart(line: string): Part {
  if (typeof line !== 'string') throw new TypeError(`line must be a string, got ${kindOf(line)}`);
  let fields: Record<string, unknown>;
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new TypeError('it is not an object');
    fields = parsed as Record<string, unknown>;
  } catch (cause) {
    throw bad(line, 'it is not a JSON object', cause);
  }
  const whole = (name: string): number => {
    const value = fields[name];
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw bad(line, `${name} is not a whole number`);
    return value;
  };
  const large = (name: string, limit: bigint): bigint => {
    const value = fields[name];
    if (typeof value !== 'string' || !/^[0-9]{1,20}$/.test(value) || BigInt(value) >= limit) throw bad(line, `${name} is not a number below ${limit}`);
    return BigInt(value);
  };
  const key = (name: string): Uint8Array => {
    const value = fields[name];
    const bytes = typeof value === 'string' ? fromHex(value) : undefined;
    if (bytes === undefined) throw bad(line, `${name} is not in hexadecimal`);
    return bytes;
  };
  const kind = (name: string): PartKind => {
    const value = fields[name];
    if (value !== 'value' && value !== 'deletion') throw bad(line, `${name} is neither value nor deletion`);
    return value;
  };
  const { sha256, comparator } = fields;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw bad(line, 'sha256 is not a SHA-256');
  if (typeof comparator !== 'string') throw bad(line, 'comparator is not a name');
  const number = large('number', NUMBER_LIMIT);
  if (number !== numberOfSha256(sha256)) throw bad(line, 'number is not that of sha256');
  return {
    number,
    byteLength: whole('bytes'),
    sha256,
    comparator,
    sequence: large('sequence', MAX_SEQUENCE + 1n),
    entries: whole('entries'),
    deletions: whole('deletions'),
    first: key('first'),
    firstKind: kind('firstKind'),
    last: key('last'),
    lastKind: kind('lastKind'),
  };
}

function bad(line: string, problem: string, cause?: unknown): BulkError {
  const shown = line.length > 200 ? `${line.slice(0, 200)}…` : line;
  return new BulkError('BLOOM_BAD_PART', `not the description of a part: ${problem}: ${shown}`, { cause });
}
