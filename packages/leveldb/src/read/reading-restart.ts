/** Why the reading of a folder is restarted. */
import { type CorruptionCode, CorruptionError } from '@bloom/bytes';

/** The files that were read do not belong to one state of the folder, or some are missing. */
export class Restart extends Error {
  /** The error to report if the folder is not being written. */
  readonly damage: Error;
  /** The state in which it was found. If it is the same again, no one writes to the folder. */
  readonly evidence: string;

  constructor(damage: Error, evidence: string) {
    super(damage.message);
    this.damage = damage;
    this.evidence = evidence;
  }
}

/**
 * An error with one of these codes as a reason to restart; undefined for any other error. Writers that allocate space in advance, such as the
 * Java port, truncate a log or a MANIFEST when they close it: `BLOOM_TRUNCATED`. They replace its zeros when they write, and a read at that moment
 * may get zeros before a record: `BLOOM_BAD_LOG`.
 */
export function restartFor(error: unknown, ...codes: CorruptionCode[]): Restart | undefined {
  if (!(error instanceof CorruptionError) || !codes.includes(error.code)) return undefined;
  return new Restart(error, `${error.file ?? ''}\n${error.offset}\n${error.problem}`);
}

/** Identifies a state of a folder. @param seen the name and the length of the MANIFEST. */
export function evidenceOf(seen: string, names: readonly string[] | undefined): string {
  return names === undefined ? seen : `${seen}\n${[...names].sort().join('\n')}`;
}
