/**
 * Keys of Minecraft Bedrock worlds.
 *
 *     x (i32) | z (i32) | dimension (i32, none for the overworld) | tag (u8) | number of the subchunk (i8, with tag 47)
 *     digp | chunk (8 or 12 bytes)                actorprefix | actor (8 bytes)                plain text
 *
 * All integers are little-endian.
 */
const TAGS: Readonly<Record<number, string>> = {
  43: '3D data', 44: 'version', 45: '2D data', 46: 'old 2D data', 47: 'subchunk', 48: 'old terrain', 49: 'block entities', 50: 'entities',
  51: 'pending ticks', 52: 'old block extra data', 53: 'biome state', 54: 'finalized state', 55: 'conversion data', 56: 'border blocks',
  57: 'hardcoded spawners', 58: 'random ticks', 59: 'checksums', 60: 'generation seed', 61: 'pre-1.18 blending', 62: 'blending biome height',
  63: 'metadata hash', 64: 'blending data', 65: 'actor digest version', 118: 'old version',
};
const DIMENSIONS: Readonly<Record<number, string>> = { 1: 'Nether', 2: 'End' };

/** A key in words; undefined when it is plain text, or none of these. */
export function minecraftKey(key: Uint8Array): string | undefined {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  if (startsWith(key, 'digp')) {
    const chunk = chunkAt(view, 4, key.length - 4);
    return chunk && `actor digest of ${chunk}`;
  }
  if (startsWith(key, 'actorprefix') && key.length === 19) return `actor ${view.getBigInt64(11, true)}`;
  const hasSubchunk = key.length === 10 || key.length === 14;
  if (!hasSubchunk && key.length !== 9 && key.length !== 13) return undefined;
  const chunkLength = key.length >= 13 ? 12 : 8;
  const tag = TAGS[key[chunkLength]!];
  const chunk = chunkAt(view, 0, chunkLength);
  if (tag === undefined || chunk === undefined || (hasSubchunk && key[chunkLength] !== 47)) return undefined;
  return `${chunk}: ${tag}${hasSubchunk ? ` ${view.getInt8(chunkLength + 1)}` : ''}`;
}

/** Coordinates beyond these are in no world. */
const FARTHEST_CHUNK = 2 ** 21;

function chunkAt(view: DataView, offset: number, length: number): string | undefined {
  if (length !== 8 && length !== 12) return undefined;
  const x = view.getInt32(offset, true);
  const z = view.getInt32(offset + 4, true);
  if (Math.max(Math.abs(x), Math.abs(z)) > FARTHEST_CHUNK) return undefined;
  const dimension = length === 12 ? view.getInt32(offset + 8, true) : 0;
  const world = dimension === 0 ? 'Overworld' : DIMENSIONS[dimension];
  return world && `chunk ${x}, ${z} of the ${world}`;
}

function startsWith(key: Uint8Array, text: string): boolean {
  return key.length >= text.length && Array.from(text).every((character, i) => key[i] === character.charCodeAt(0));
}
