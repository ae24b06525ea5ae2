/** The state of a version: the one that the database returns, one that was replaced or deleted later, a deletion, or unknown if the database cannot be read. */
export type VersionState = 'current' | 'overwritten' | 'deleted' | 'deletion' | 'unknown';

export const STATE_TITLES: Record<VersionState, string> = { current: 'current', overwritten: 'overwritten', deleted: 'deleted later', deletion: 'deletion', unknown: 'unknown state' };
