import type { DecodedEntry, JsonEntry } from '@bloom/web-storage';
import type { FactName } from '../formats/format-contract.js';

/** A decoded entry, and for a version of it what `VERSION_FACTS` name. */
export interface ReadEntry extends DecodedEntry {
  readonly facts: readonly string[];
}

/** What is known of a version besides key and value, in this order. */
export const VERSION_FACTS: readonly FactName[] = ['sequence', 'type', 'file'];

/** The same by their names; undefined for an entry that is not read as a version. */
export function versionOf({ facts: [sequence, type, file] }: ReadEntry): JsonEntry['version'] {
  return sequence === undefined ? undefined : { sequence, type: type!, file: file! };
}
