/** The state of a version: the newest one, one that was replaced or deleted later, or a deletion. */
export type VersionState = 'current' | 'overwritten' | 'deleted' | 'deletion';

export const STATE_TITLES: Record<VersionState, string> = { current: 'current', overwritten: 'overwritten', deleted: 'deleted later', deletion: 'deletion' };
