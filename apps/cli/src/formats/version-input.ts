/**
 * Versions of keys in an input, as `scan` prints those of a database: the key, its sequence, its type, perhaps its file, and the value.
 * The batch stores them under internal keys. A version without a sequence gets the highest sequence.
 */
import { numberOf } from '@bloom/bytes/internal';
import { decodeInternalKey, INTERNAL_KEY_TRAILER_LENGTH, MAX_SEQUENCE, MAX_TYPE, typeOfKind } from '@bloom/sstable/database';
import { LineError } from './entry.js';
import type { EntryBatch, FieldDecoder } from './entry-batch.js';
import type { LineDecoder } from './lines.js';

/** The sequence of a version whose line has none. No database reaches it, because lookups use it for all versions of a key. */
const NO_SEQUENCE = MAX_SEQUENCE;

const TAB = 9;
/** The number of cells of a line, without and with a sequence and a file. */
const LEAST_CELLS = 3;
const MOST_CELLS = 5;

/** The parts of a key in a batch of versions. @returns undefined as the sequence if the input has none. */
export function versionOf(key: Uint8Array): { readonly userKey: Uint8Array; readonly sequence: bigint | undefined; readonly type: number } {
  const { userKey, sequence, type } = decodeInternalKey(key)!;
  return { userKey, sequence: sequence === NO_SEQUENCE ? undefined : sequence, type };
}

/** Ends the key that is being written. @param sequence from the input; undefined if it has none. @throws LineError */
export function putVersion(type: unknown, sequence: unknown, batch: EntryBatch): void {
  let trailer = (sequence === undefined ? NO_SEQUENCE : sequenceOf(sequence)) * 256n + BigInt(typeOf(type));
  batch.reserve(INTERNAL_KEY_TRAILER_LENGTH);
  for (let i = 0; i < INTERNAL_KEY_TRAILER_LENGTH; i++, trailer >>= 8n) batch.bytes[batch.end++] = Number(trailer & 0xffn);
}

/** Why bytes are not an internal key; undefined if they are. */
export function storedKeyProblem(key: Uint8Array): string | undefined {
  const stored = decodeInternalKey(key);
  if (stored === undefined) return `a key of ${numberOf(key.length, 'byte')} is too short for sequence and type: are these versions?`;
  return stored.sequence === NO_SEQUENCE ? `the sequence ${NO_SEQUENCE}, which no database reaches` : undefined;
}

/** Reads lines of key, sequence, type, file and value, of which sequence and file may be left out. */
export function versionDecoder(decodeField: FieldDecoder): LineDecoder {
  return (line, start, end, batch, number) => {
    const ends = cellEnds(line, start, end);
    if (ends.length < LEAST_CELLS || ends.length > MOST_CELLS) {
      throw new LineError(`${ends.length === 1 ? 'one column' : `${ends.length} columns`}, but a version has key, sequence, type, file and value (sequence and file are optional)`);
    }
    const cellText = (i: number): string => Buffer.from(line.buffer, line.byteOffset + ends[i - 1]! + 1, ends[i]! - ends[i - 1]! - 1).toString('latin1');
    const hasSequence = ends.length > LEAST_CELLS;
    decodeField(line, start, ends[0]!, batch);
    putVersion(cellText(hasSequence ? 2 : 1), hasSequence ? cellText(1) : undefined, batch);
    const keyEnd = batch.end;
    decodeField(line, ends.at(-2)! + 1, end, batch);
    batch.push(keyEnd, batch.end, number);
  };
}

/** The ends of the cells of a line, up to one cell more than a line may have. */
function cellEnds(line: Uint8Array, start: number, end: number): number[] {
  const ends: number[] = [];
  for (let from = start; ends.length < MOST_CELLS; ) {
    const tab = line.indexOf(TAB, from);
    if (tab < 0 || tab >= end) break;
    ends.push(tab);
    from = tab + 1;
  }
  ends.push(end);
  return ends;
}

function sequenceOf(given: unknown): bigint {
  const text = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  const sequence = typeof text === 'string' && /^\d{1,17}$/.test(text) ? BigInt(text) : NO_SEQUENCE;
  if (sequence < NO_SEQUENCE) return sequence;
  throw new LineError(`the sequence of a version must be a whole number below ${NO_SEQUENCE}`);
}

function typeOf(given: unknown): number {
  if (given === 'value' || given === 'deletion') return typeOfKind(given);
  const type = typeof given === 'number' ? given : typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : -1;
  if (Number.isInteger(type) && type >= 0 && type <= MAX_TYPE) return type;
  throw new LineError('the type of a version must be value, deletion, or the number of the type of another program');
}
