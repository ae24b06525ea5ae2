/**
 * A version edit: a change of a database's tables and counters, and the contents of a MANIFEST's record.
 *
 *     01 comparator (string)                 07 new file: level (varint32), number (varint64), size (varint64),
 *     02 log number (varint64)                  smallest and largest internal key (strings)
 *     09 previous log number (varint64)
 *     03 next file number (varint64)         05 compact pointer: level (varint32), internal key (string)
 *     04 last sequence (varint64)            06 deleted file: level (varint32), number (varint64)
 *
 * Fields come in any order, and are written as 1 2 9 3 4 5 6 7. A string is its length (varint32) and its bytes.
 *
 * Source: LevelDB, db/version_edit.cc.
 */
import { type Bytes, CorruptionError, type LabelledRange, type Place, putBigVarint, putVarint, VarintReader } from '@bloom/bytes';
import { mustBeBytes, plainBytes, sameBytes } from '@bloom/bytes/internal';
import { decodeInternalKey } from '@bloom/sstable/database';

/** The number of levels of a database. */
export const LEVEL_COUNT = 7;

const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE_NUMBER = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_FILE = 6;
const NEW_FILE = 7;
// 8 was used for large value references.
const PREVIOUS_LOG_NUMBER = 9;

/** A table of a database, as the MANIFEST describes it. */
export interface FileMetadata {
  readonly number: bigint;
  /** Bytes of the file. */
  readonly size: number;
  /** Its first internal key. */
  readonly smallest: Uint8Array;
  /** Its last internal key. */
  readonly largest: Uint8Array;
}

/** Whether two tables have the same first and last key. */
export function hasSameBounds(a: FileMetadata, b: FileMetadata): boolean {
  return sameBytes(a.smallest, b.smallest) && sameBytes(a.largest, b.largest);
}

/** The contents of a record of a MANIFEST. Fields that the record does not have are left out. */
export interface VersionEdit {
  readonly comparator?: string | undefined;
  /** Logs with a lower number are obsolete. */
  readonly logNumber?: bigint | undefined;
  /** A log with a lower number that is needed too; 0 for none. LevelDB always writes 0 now. */
  readonly previousLogNumber?: bigint | undefined;
  readonly nextFileNumber?: bigint | undefined;
  readonly lastSequence?: bigint | undefined;
  /** Where the next compaction of a level starts. */
  readonly compactPointers?: readonly { readonly level: number; readonly key: Uint8Array }[];
  readonly deletedFiles?: readonly { readonly level: number; readonly number: bigint }[];
  readonly newFiles?: readonly { readonly level: number; readonly file: FileMetadata }[];
}

/** The record of an edit. Deleted files are sorted and unique, as LevelDB writes them. */
export function encodeVersionEdit(edit: VersionEdit): Bytes {
  const out = new FieldWriter();
  if (edit.comparator !== undefined) {
    out.number(COMPARATOR);
    out.string(new TextEncoder().encode(edit.comparator));
  }
  const numbers: [number, bigint | undefined][] = [
    [LOG_NUMBER, edit.logNumber],
    [PREVIOUS_LOG_NUMBER, edit.previousLogNumber],
    [NEXT_FILE_NUMBER, edit.nextFileNumber],
    [LAST_SEQUENCE, edit.lastSequence],
  ];
  for (const [tag, value] of numbers) {
    if (value === undefined) continue;
    out.number(tag);
    out.bigNumber(value);
  }
  for (const { level, key } of edit.compactPointers ?? []) {
    out.number(COMPACT_POINTER);
    out.number(level);
    out.string(key);
  }
  const deleted = [...(edit.deletedFiles ?? [])].sort((a, b) => a.level - b.level || compareBigints(a.number, b.number));
  for (const [i, { level, number }] of deleted.entries()) {
    if (i > 0 && deleted[i - 1]!.level === level && deleted[i - 1]!.number === number) continue;
    out.number(DELETED_FILE);
    out.number(level);
    out.bigNumber(number);
  }
  for (const { level, file } of edit.newFiles ?? []) {
    out.number(NEW_FILE);
    out.number(level);
    out.bigNumber(file.number);
    out.number(file.size);
    out.string(file.smallest);
    out.string(file.largest);
  }
  return out.finish();
}

/**
 * The edit of a record. Keys are views of one copy of the record: a MANIFEST can list tens of thousands of tables, and an array
 * for each key would take most of the time.
 *
 * @param place where the record is.
 * @param onField called after each field with its end in the record.
 * @throws CorruptionError `BLOOM_BAD_VERSION_EDIT`, with LevelDB's text.
 */
export function decodeVersionEdit(record: Uint8Array, place: Place, onField?: (end: number) => void): VersionEdit {
  const bytes = plainBytes(record).slice();
  const reader = new VarintReader(bytes);
  const bad = (field: string): CorruptionError => new CorruptionError('BLOOM_BAD_VERSION_EDIT', place, `VersionEdit: ${field}`);

  function bigNumber(field: string): bigint {
    const value = reader.bigVarint64();
    if (value === undefined) throw bad(field);
    return value;
  }
  function string(field: string): Uint8Array {
    const length = reader.varint32();
    if (length < 0 || length > record.length - reader.position) throw bad(field);
    reader.position += length;
    return bytes.subarray(reader.position - length, reader.position);
  }
  function level(field: string): number {
    const value = reader.varint32();
    if (value < 0 || value >= LEVEL_COUNT) throw bad(field);
    return value;
  }
  function internalKey(field: string): Uint8Array {
    const key = string(field);
    if (key.length === 0) throw bad(field);
    return key;
  }
  function size(field: string): number {
    const value = reader.varint64();
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) throw bad(field);
    return value;
  }

  const edit: { -readonly [Name in keyof VersionEdit]: VersionEdit[Name] } = {};
  const compactPointers: { level: number; key: Uint8Array }[] = [];
  const deletedFiles: { level: number; number: bigint }[] = [];
  const newFiles: { level: number; file: FileMetadata }[] = [];
  while (reader.position < record.length) {
    const tag = reader.varint32();
    switch (tag) {
      case -1:
        throw bad('invalid tag');
      case COMPARATOR:
        edit.comparator = new TextDecoder('utf-8', { ignoreBOM: true }).decode(string('comparator name'));
        break;
      case LOG_NUMBER:
        edit.logNumber = bigNumber('log number');
        break;
      case PREVIOUS_LOG_NUMBER:
        edit.previousLogNumber = bigNumber('previous log number');
        break;
      case NEXT_FILE_NUMBER:
        edit.nextFileNumber = bigNumber('next file number');
        break;
      case LAST_SEQUENCE:
        edit.lastSequence = bigNumber('last sequence number');
        break;
      case COMPACT_POINTER:
        compactPointers.push({ level: level('compaction pointer'), key: internalKey('compaction pointer') });
        break;
      case DELETED_FILE:
        deletedFiles.push({ level: level('deleted file'), number: bigNumber('deleted file') });
        break;
      case NEW_FILE: {
        const field = 'new-file entry';
        const at = level(field);
        const number = bigNumber(field);
        const file = { number, size: size(field), smallest: internalKey(field), largest: internalKey(field) };
        newFiles.push({ level: at, file });
        break;
      }
      default:
        throw bad('unknown tag');
    }
    onField?.(reader.position);
  }
  if (compactPointers.length > 0) edit.compactPointers = compactPointers;
  if (deletedFiles.length > 0) edit.deletedFiles = deletedFiles;
  if (newFiles.length > 0) edit.newFiles = newFiles;
  return edit;
}

/** The parts of a field after its tag, as in the picture above. */
const FIELD_LAYOUTS: Readonly<Record<number, { readonly name: string; readonly parts: readonly FieldPart[] }>> = {
  [COMPARATOR]: { name: 'comparator', parts: ['name'] },
  [LOG_NUMBER]: { name: 'log number', parts: ['number'] },
  [PREVIOUS_LOG_NUMBER]: { name: 'previous log number', parts: ['number'] },
  [NEXT_FILE_NUMBER]: { name: 'next file number', parts: ['number'] },
  [LAST_SEQUENCE]: { name: 'last sequence', parts: ['number'] },
  [COMPACT_POINTER]: { name: 'compact pointer', parts: ['level', 'key'] },
  [DELETED_FILE]: { name: 'deleted file', parts: ['level', 'number'] },
  [NEW_FILE]: { name: 'new file', parts: ['level', 'number', 'size', 'smallest key', 'largest key'] },
};

type FieldPart = 'level' | 'number' | 'size' | 'name' | 'key' | 'smallest key' | 'largest key';

/**
 * The meaning of every byte of a record: each once, in order, with offsets from the start of the record.
 *
 * From the first damaged field on, the record is one range, `damaged`, whose value is LevelDB's error text.
 */
export function versionEditLayout(record: Uint8Array): LabelledRange[] {
  mustBeBytes('record', record);
  const ranges: LabelledRange[] = [];
  const reader = new VarintReader(record);
  let position = 0;
  /** Adds the bytes that were read since the last range. */
  function add(label: string, value?: string): void {
    const byteLength = reader.position - position;
    if (byteLength > 0) ranges.push({ offset: position, byteLength, label, ...(value !== undefined && { value }) });
    ({ position } = reader);
  }

  const wholeLength = wholeFieldsLength(record);
  while (position < wholeLength.byteLength) {
    const { name, parts } = FIELD_LAYOUTS[reader.varint32()]!;
    add(`${name}: tag`);
    for (const part of parts) {
      if (part === 'level' || part === 'number' || part === 'size') {
        const value = reader.bigVarint64()!;
        add(`${name}: ${part}`, String(value));
        continue;
      }
      const length = reader.varint32();
      add(`${name}: ${part} length`, String(length));
      reader.position += length;
      const bytes = record.subarray(position, reader.position);
      add(`${name}: ${part}`, part === 'name' ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : versionText(bytes));
    }
  }
  reader.position = record.length;
  add('damaged', wholeLength.problem);
  return ranges;
}

/** The number of bytes of a record that are whole fields, and the problem after them. */
function wholeFieldsLength(record: Uint8Array): { readonly byteLength: number; readonly problem: string | undefined } {
  let byteLength = 0;
  try {
    decodeVersionEdit(record, { structure: 'version edit', offset: 0 }, (end) => (byteLength = end));
    return { byteLength, problem: undefined };
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    return { byteLength, problem: error.problem };
  }
}

/** The part of an internal key after the user key. */
function versionText(key: Uint8Array): string {
  const internal = decodeInternalKey(key);
  return internal === undefined ? 'too short for an internal key' : `sequence ${internal.sequence}, type ${internal.type}`;
}

/** Negative, 0 or positive, for sort. */
export function compareBigints(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The most bytes of a varint64. */
const MAX_VARINT_LENGTH = 10;

class FieldWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  number(value: number): void {
    this.#reserve(MAX_VARINT_LENGTH);
    this.#length = putVarint(this.#bytes, this.#length, value);
  }

  bigNumber(value: bigint): void {
    this.#reserve(MAX_VARINT_LENGTH);
    this.#length = putBigVarint(this.#bytes, this.#length, value);
  }

  string(bytes: Uint8Array): void {
    this.number(bytes.length);
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  finish(): Bytes {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
