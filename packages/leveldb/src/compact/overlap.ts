/**
 * Which tables hold keys of a range.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import type { FileMetadata } from '../format/version-edit.js';
import { compareInternal, compareUser, type KeyOrder, type Version } from '../format/version.js';

/** The most bytes, in units of `maxFileSize`, that an output may overlap in the grandparent level. */
export const MAX_GRANDPARENT_FILES = 10;

/** A range of internal keys, both ends included, of which only the user keys count. An undefined bound is unbounded. */
export interface KeyBounds {
  readonly begin: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
}

/** Whether a table of the level holds user keys of the range. */
export function overlapsLevel(version: Version, level: number, order: KeyOrder, bounds: KeyBounds): boolean {
  return overlappingFiles(version, level, order, bounds).length > 0;
}

/**
 * The tables of a level that hold user keys of the range. In level 0, where tables overlap, the range grows with each table found.
 *
 * Source: `Version::GetOverlappingInputs`.
 */
export function overlappingFiles(version: Version, level: number, order: KeyOrder, { begin, end }: KeyBounds): FileMetadata[] {
  const files = version.levels[level]!;
  if (level > 0) {
    const first = begin === undefined ? 0 : countBefore(files, ({ largest }) => compareUser(order, largest, begin!) < 0);
    const last = end === undefined ? files.length : countBefore(files, ({ smallest }) => compareUser(order, smallest, end!) <= 0);
    return files.slice(first, last);
  }
  let found: FileMetadata[] = [];
  for (let i = 0; i < files.length; ) {
    const file = files[i++]!;
    if (begin !== undefined && compareUser(order, file.largest, begin) < 0) continue;
    if (end !== undefined && compareUser(order, file.smallest, end) > 0) continue;
    found.push(file);
    if (begin !== undefined && compareUser(order, file.smallest, begin) < 0) begin = file.smallest;
    else if (end !== undefined && compareUser(order, file.largest, end) > 0) end = file.largest;
    else continue;
    // The table made the range larger.
    found = [];
    i = 0;
  }
  return found;
}

/** The number of tables for which `isBefore` is true, where those come before all others: a binary search. */
function countBefore(files: readonly FileMetadata[], isBefore: (file: FileMetadata) => boolean): number {
  let left = 0;
  let right = files.length;
  while (left < right) {
    const middle = (left + right) >>> 1;
    if (isBefore(files[middle]!)) left = middle + 1;
    else right = middle;
  }
  return left;
}

/** The least and the greatest internal key of some tables. */
export function boundsOf(files: readonly FileMetadata[], order: KeyOrder): { readonly begin: Uint8Array; readonly end: Uint8Array } {
  let { smallest: begin, largest: end } = files[0]!;
  for (const { smallest, largest } of files) {
    if (compareInternal(order, smallest, begin) < 0) begin = smallest;
    if (compareInternal(order, largest, end) > 0) end = largest;
  }
  return { begin, end };
}

/** Bytes of some tables. */
export function sizeOf(files: readonly FileMetadata[]): number {
  let size = 0;
  for (const file of files) size += file.size;
  return size;
}
