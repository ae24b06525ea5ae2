import type { BlockWalk } from '../format/block-walk.js';
import { INTERNAL_KEY_TRAILER_LENGTH } from '../format/bytewise-order.js';
import { DELETION, mayBeInternalKey } from '../format/internal-key.js';

/**
 * Whether the entry that `walk` is on looks like an entry of a database: its key looks like an internal key, and a deletion
 * has no value. An entry of a plain table can look like that too.
 */
export function mayBeInternalEntry(walk: BlockWalk): boolean {
  if (!mayBeInternalKey(walk.key)) return false;
  return walk.keyBytes[walk.keyLength - INTERNAL_KEY_TRAILER_LENGTH] !== DELETION || walk.valueStart === walk.valueEnd;
}
