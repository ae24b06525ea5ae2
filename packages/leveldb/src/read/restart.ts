/** Why the reading of a folder starts again. */

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

/** What a state of a folder is told from others by. @param seen the name and the length of the MANIFEST. */
export function evidenceOf(seen: string, names: readonly string[] | undefined): string {
  return names === undefined ? seen : `${seen}\n${[...names].sort().join('\n')}`;
}
