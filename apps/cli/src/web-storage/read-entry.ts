import type { DecodedEntry, JsonEntry } from '@bloom/web-storage';
import type { FactName } from '../formats/format-contract.js';

/** A decoded entry, with the facts in `VERSION_FACTS` if it is read as a version. */
export interface ReadEntry extends DecodedEntry {
  readonly facts: readonly string[];
}

/** The facts about a version other than key and value, in this order. */
export const VERSION_FACTS: readonly FactName[] = ['sequence', 'type', 'file'];

/** The facts of an entry by their names; undefined for an entry that is not read as a version. */
export function versionOf({ facts: [sequence, type, file] }: ReadEntry): JsonEntry['version'] {
  return sequence === undefined ? undefined : { sequence, type: type!, file: file! };
}
