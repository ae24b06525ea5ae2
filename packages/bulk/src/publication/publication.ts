/** The publication in a store: CURRENT, and the MANIFEST that it names. */
import { type Bytes, CorruptionError, type Place, type Signal } from '@bloom/bytes';
import { kindOf, mustBeSignal, mustHaveMethods, numberOf } from '@bloom/bytes/internal';
import { decodeVersionEdit, encodeVersionEdit, type FileMetadata, type VersionEdit } from '@bloom/leveldb';
import { LogWriter, readLog } from '@bloom/log';
import { decodeInternalKey } from '@bloom/sstable/database';
import { BulkError } from '../part/bulk-error.js';
import { CURRENT, NUMBER_LIMIT, numberOfSha256, parseObjectName } from '../part/object-name.js';
import { sha256Hex } from '../part/sha256.js';
import type { Store } from '../store/store.js';

/** How many levels a database has. Level 0, which LevelDB orders by number, is not used. */
export const LEVEL_COUNT = 7;

/** A part of a publication, as the MANIFEST lists it. */
export interface PublishedPart extends FileMetadata {
  /** The sequence of all its entries. */
  readonly sequence: bigint;
}

/** The contents of one MANIFEST. */
export interface PublishedState {
  /** The name of the MANIFEST. */
  readonly manifest: string;
  /** The name of the order of the keys. */
  readonly comparator: string;
  /** The highest sequence of a part. A delivery needs a higher one. */
  readonly lastSequence: bigint;
  /** The parts of each level by their keys; 0 is always empty, and 6 is the lowest, with the oldest entries. */
  readonly levels: readonly (readonly PublishedPart[])[];
}

/** @throws TypeError, which names the argument, unless `value` is a {@link PublishedState}: a promise of one has no parts. */
export function mustBeState(name: string, value: unknown): asserts value is PublishedState {
  const { manifest, levels } = Object(value) as Partial<PublishedState>;
  if (typeof manifest !== 'string' || !Array.isArray(levels)) throw new TypeError(`${name} must be a publication, got ${kindOf(value)}`);
}

/** The current publication. */
export interface Publication extends PublishedState {
  /** The state of CURRENT, for {@link publish}. */
  readonly etag: string;
}

/**
 * Reads the current publication in two requests.
 *
 * @returns undefined where there is no CURRENT.
 * @throws BulkError `BLOOM_NOT_PUBLISHED` when CURRENT or the MANIFEST is not as this package wrote it: another program wrote it, or it is damaged.
 * @throws CorruptionError `BLOOM_MISSING_FILE` when the MANIFEST is missing; and what the store throws.
 */
export async function readPublication(store: Store, signal?: Signal): Promise<Publication | undefined> {
  mustHaveMethods('store', store, 'a store', ['get']);
  if (signal !== undefined) mustBeSignal('signal', signal);
  let missing: string | undefined;
  for (;;) {
    const current = await readCurrent(store, signal);
    if (current === undefined) return undefined;
    const { manifest, etag } = current;
    try {
      const { comparator, lastSequence, levels } = await readManifest(store, manifest, signal);
      return { manifest, comparator, lastSequence, levels, etag };
    } catch (error) {
      // The MANIFEST may have been replaced and deleted in between. CURRENT then names another one.
      if (!(error instanceof CorruptionError && error.code === 'BLOOM_MISSING_FILE') || manifest === missing) throw error;
      missing = manifest;
    }
  }
}

/** The name of the MANIFEST in CURRENT, and CURRENT's ETag; undefined if there is no CURRENT. */
export async function readCurrent(store: Store, signal?: Signal): Promise<Pick<Publication, 'manifest' | 'etag'> | undefined> {
  const current = await store.get(CURRENT, signal);
  return current && { manifest: decodeCurrent(current.bytes, store), etag: current.etag };
}

/** The contents of CURRENT. */
export function encodeCurrent(manifest: string): Bytes {
  return new TextEncoder().encode(`${manifest}\n`);
}

/** The name of the MANIFEST. @throws BulkError `BLOOM_NOT_PUBLISHED` when this package does not write such a name. */
function decodeCurrent(bytes: Uint8Array, store: Store): string {
  const text = new TextDecoder().decode(bytes);
  const name = text.slice(0, -1);
  if (text.endsWith('\n') && parseObjectName(name)?.type === 'manifest') return name;
  throw notPublished(store, `CURRENT holds ${JSON.stringify(text.slice(0, 100))}, which is not the name of a MANIFEST and a newline`);
}

/** The contents of a MANIFEST, and its bytes. */
export interface ReadManifest extends PublishedState {
  readonly bytes: Bytes;
  /** Of `bytes`, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Reads a MANIFEST, published or not, and verifies that its bytes match its name.
 *
 * @throws CorruptionError `BLOOM_MISSING_FILE` when it is missing; BulkError `BLOOM_NOT_PUBLISHED` when another program wrote it.
 */
export async function readManifest(store: Store, name: string, signal?: Signal): Promise<ReadManifest> {
  mustHaveMethods('store', store, 'a store', ['get']);
  const place: Place = { structure: 'MANIFEST', offset: 0, file: name };
  const found = await store.get(name, signal);
  if (found === undefined) throw new CorruptionError('BLOOM_MISSING_FILE', place, `${store.name} does not have it`);
  const object = parseObjectName(name);
  const sha256 = await sha256Hex(found.bytes);
  const number = numberOfSha256(sha256);
  if (object?.type !== 'manifest' || object.number !== number) {
    throw notPublished(store, `the number in the name ${name} does not match its bytes, whose number is ${number}`);
  }
  return { ...decodeManifest(found.bytes, name, store), bytes: found.bytes, sha256 };
}

/**
 * A MANIFEST: a log of one version edit.
 *
 * Log number and next file number are above those of all parts, so that LevelDB can write into a copy.
 */
export function encodeManifest(comparator: string, lastSequence: bigint, levels: readonly (readonly FileMetadata[])[]): Bytes {
  const edit: VersionEdit = {
    comparator,
    logNumber: NUMBER_LIMIT,
    previousLogNumber: 0n,
    nextFileNumber: NUMBER_LIMIT + 1n,
    lastSequence,
    newFiles: levels.flatMap((files, level) => files.map(({ number, size, smallest, largest }) => ({ level, file: { number, size, smallest, largest } }))),
  };
  let bytes: Bytes = new Uint8Array(0);
  new LogWriter({ append: (record) => (bytes = new Uint8Array(record)) }).addRecord(encodeVersionEdit(edit));
  return bytes;
}

function decodeManifest(bytes: Uint8Array, name: string, store: Store): PublishedState {
  const place: Place = { structure: 'MANIFEST', offset: 0, file: name };
  const { records, drops } = readLog(bytes);
  const [record] = records;
  if (record === undefined || records.length > 1 || drops.length > 0) throw notPublished(store, `${name} has ${numberOf(records.length, 'edit')}, expected one`);
  const { comparator, lastSequence, newFiles = [], deletedFiles, logNumber } = decodeVersionEdit(record.bytes, place);
  if (comparator === undefined || lastSequence === undefined || logNumber !== NUMBER_LIMIT || deletedFiles !== undefined) {
    throw notPublished(store, `${name} is not a MANIFEST of this package`);
  }
  const levels: PublishedPart[][] = Array.from({ length: LEVEL_COUNT }, () => []);
  for (const { level, file } of newFiles) {
    const sequence = decodeInternalKey(file.smallest)?.sequence;
    if (level === 0 || sequence === undefined || decodeInternalKey(file.largest)?.sequence !== sequence) {
      throw notPublished(store, `the entries of table ${file.number} in level ${level} of ${name} have more than one sequence`);
    }
    // Readers would see nothing of it.
    if (sequence > lastSequence) throw notPublished(store, `${name} has table ${file.number} with the sequence ${sequence}, which is above ${lastSequence}, its last`);
    levels[level]!.push({ ...file, sequence });
  }
  return { manifest: name, comparator, lastSequence, levels };
}

function notPublished(store: Store, problem: string): BulkError {
  return new BulkError('BLOOM_NOT_PUBLISHED', `the database in ${store.name} was not published by @bloom/bulk: ${problem}`);
}
