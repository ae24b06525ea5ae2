/**
 * A file of a world from Minecraft's Marketplace, whose LevelDB database is encrypted file by file. CURRENT, the MANIFEST, logs and tables
 * all begin with this header; the bytes of the file, encrypted by AES-256 in CFB8, follow it.
 *
 *     version (u32, 0) | fc b9 cf 9b | 8 bytes, 0 | length of the content ID (u8) | content ID (text) | zeros up to byte 256
 *
 * The content ID is mostly a UUID of 36 characters. It names the key, which the game gets from the Marketplace.
 *
 * Source: readers of packs and worlds of Minecraft: Bedrock Edition, which agree on it. Mojang has not published the format.
 */

/** Bytes of the header. */
export const ENCRYPTION_HEADER_LENGTH = 256;

/** Version and magic number. */
const START = [0, 0, 0, 0, 0xfc, 0xb9, 0xcf, 0x9b];
const ID_LENGTH_OFFSET = 16;

/**
 * The content ID of an encrypted file.
 *
 * @param start the first 256 bytes of the file.
 * @returns undefined when they are not such a header.
 */
export function encryptedContentId(start: Uint8Array): string | undefined {
  if (start.length < ENCRYPTION_HEADER_LENGTH || START.some((byte, i) => start[i] !== byte)) return undefined;
  const idStart = ID_LENGTH_OFFSET + 1;
  const idEnd = idStart + start[ID_LENGTH_OFFSET]!;
  if (idEnd === idStart || idEnd > ENCRYPTION_HEADER_LENGTH) return undefined;
  const id = start.subarray(idStart, idEnd);
  return id.every((byte) => byte > 0x20 && byte < 0x7f) ? String.fromCharCode(...id) : undefined;
}

/** What an encrypted file or database is, and what opens it. */
export function encryptedText(id: string): string {
  return `encrypted by Minecraft's Marketplace (content ID ${id}): only Minecraft opens it, for an account that owns the content`;
}
