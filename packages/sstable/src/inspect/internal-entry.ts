import { DELETION, INTERNAL_KEY_TRAILER_LENGTH } from '../format/internal-key.js';
import type { BlockWalk } from '../format/block-walk.js';

/** The greatest type that LevelDB, RocksDB and Pebble write: those of text are greater. */
const MAX_KNOWN_TYPE = 0x1f;

/** Whether the key that `walk` is on can end in a sequence and a type. */
export function mayBeInternalKey({ keyBytes, keyLength }: BlockWalk): boolean {
  return keyLength >= INTERNAL_KEY_TRAILER_LENGTH && keyBytes[keyLength - INTERNAL_KEY_TRAILER_LENGTH]! <= MAX_KNOWN_TYPE;
}

/**
 * Whether the entry that `walk` is on looks like one of a database: its key is an internal key, and a deletion has no
 * value. An entry of a plain table may look so too.
 */
export function mayBeInternalEntry(walk: BlockWalk): boolean {
  if (!mayBeInternalKey(walk)) return false;
  return walk.keyBytes[walk.keyLength - INTERNAL_KEY_TRAILER_LENGTH] !== DELETION || walk.valueStart === walk.valueEnd;
}
