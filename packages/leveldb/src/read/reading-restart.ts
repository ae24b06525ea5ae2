/** Why the reading of a folder starts again. */
import { CorruptionError } from '@bloom/bytes';

/** What was seen is not one state of the folder, or one that lacks files. */
export class Restart extends Error {
  /** What is wrong if the folder is not being written. */
  readonly damage: Error;
  /** The state that it was seen in: the same again means that nobody writes. */
  readonly evidence: string;

  constructor(damage: Error, evidence: string) {
    super(damage.message);
    this.damage = damage;
    this.evidence = evidence;
  }
}

/**
 * A file that has fewer bytes than when it was opened, as a reason to start again; undefined for any other error. Writers that
 * allocate room ahead, such as the Java port, truncate a log or a MANIFEST when they close it.
 */
export function truncationOf(error: unknown): Restart | undefined {
  if (!(error instanceof CorruptionError) || error.code !== 'BLOOM_TRUNCATED') return undefined;
  return new Restart(error, `${error.file ?? ''}\n${error.offset}\n${error.problem}`);
}

/** What a state of a folder is told from others by. @param seen the name and the length of the MANIFEST. */
export function evidenceOf(seen: string, names: readonly string[] | undefined): string {
  return names === undefined ? seen : `${seen}\n${[...names].sort().join('\n')}`;
}
