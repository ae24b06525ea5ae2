import { CorruptionError } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import type { LogTail } from '@bloom/log';

/** The end of a log that was replayed. */
export interface LogEnd {
  /** The name of the file, in errors. */
  readonly name: string;
  readonly tail: LogTail | undefined;
  /** The sequence of its last operation; 0 for none. */
  readonly lastSequence: bigint;
}

/**
 * The errors for logs that end in the middle of a record although a later log has records: a process writes to the next log only when the one
 * before is complete. LevelDB does not sync that one, so a power failure can truncate it. A log without a whole record does not count: after a
 * crash, opening with `reuseLogs` leaves it as it is, and continues in another.
 *
 * @param logs all logs of a database, ascending.
 */
export function lostEnds(logs: readonly LogEnd[]): CorruptionError[] {
  const newest = [...logs].reverse().find(({ lastSequence }) => lastSequence > 0n);
  const older = newest === undefined ? [] : logs.slice(0, logs.indexOf(newest));
  return older.flatMap(({ name, tail, lastSequence }) => {
    if (tail === undefined || lastSequence === 0n) return [];
    const problem = `it ends in the middle of a record, and a later log has records (${numberOf(tail.byteLength, 'byte')})`;
    return new CorruptionError('BLOOM_BAD_LOG', { structure: 'log record', offset: tail.offset, file: name }, problem);
  });
}
