import { isTextual } from '@bloom/bytes/internal';
import { maskedCrc32c } from '@bloom/crc32c';
import { LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH } from '@bloom/log';

/** LAST, the highest type of a fragment; 0 means preallocated space. */
const MAX_TYPE = 4;

/**
 * Whether a log or a MANIFEST can begin with these bytes: with a complete fragment, or with one that is truncated by the end of the file.
 *
 * @param bytes the first block, or all of a shorter file.
 */
export function canBeginLog(bytes: Uint8Array): boolean {
  if (bytes.length < LOG_HEADER_LENGTH) return !isTextual(bytes);
  const type = bytes[6]!;
  const end = LOG_HEADER_LENGTH + bytes[4]! + 2 ** 8 * bytes[5]!;
  if (type > MAX_TYPE || end > LOG_BLOCK_LENGTH) return false;
  if (type === 0 || end > bytes.length) return true;
  const stored = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return stored === maskedCrc32c(bytes.subarray(LOG_HEADER_LENGTH - 1, end));
}
