/** The keys with which LevelDB's filters and fitted ones are compared. The URL has the number of keys and the pattern. */
/** Numbers of 16 decimal digits, big-endian numbers of 64 bits, or random bytes. */
export type KeyPattern = 'digits' | 'bytes' | 'random';
export const KEY_PATTERNS: readonly KeyPattern[] = ['digits', 'bytes', 'random'];

/** The range of the number of keys in a filter. */
export const FEWEST_KEYS = 8;
export const MOST_KEYS = 128;
