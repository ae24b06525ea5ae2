/** Whether a version counts: the newest one, one that a newer one replaced or a deletion followed, or the deletion itself. */
export type VersionState = 'current' | 'overwritten' | 'deleted' | 'deletion';

export const STATE_TITLES: Record<VersionState, string> = { current: 'current', overwritten: 'overwritten', deleted: 'deleted later', deletion: 'deletion' };
