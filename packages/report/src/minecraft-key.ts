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

/** The key, or its beginning, in the words in which {@link minecraftKey} shows it; undefined for other words, which are plain text. */
export function typedMinecraftKey(text: string): Uint8Array | undefined {
  const actor = /^actor (-?\d{1,19})$/.exec(text);
  if (actor !== null) {
    const key = new Uint8Array(19);
    key.set(new TextEncoder().encode('actorprefix'));
    new DataView(key.buffer).setBigInt64(11, BigInt(actor[1]!), true);
    return key;
  }
  const [, digest, x, z, world, part] = /^(actor digest of )?chunk (-?\d{1,7}), (-?\d{1,7}) of the (\w+)(?:: (.+))?$/.exec(text) ?? [];
  if (x === undefined || z === undefined) return undefined;
  const dimension = world === 'Overworld' ? 0 : Number(Object.entries(DIMENSIONS).find(([, name]) => name === world)?.[0] ?? NaN);
  if (Number.isNaN(dimension)) return undefined;
  const chunk = new Uint8Array(dimension === 0 ? 8 : 12);
  const view = new DataView(chunk.buffer);
  view.setInt32(0, Number(x), true);
  view.setInt32(4, Number(z), true);
  if (dimension !== 0) view.setInt32(8, dimension, true);
  if (digest !== undefined) return part === undefined ? Uint8Array.of(...new TextEncoder().encode('digp'), ...chunk) : undefined;
  if (part === undefined) return chunk;
  const subchunk = /^subchunk(?: (-?\d{1,3}))?$/.exec(part);
  if (subchunk !== null) return Uint8Array.of(...chunk, 47, ...(subchunk[1] === undefined ? [] : [Number(subchunk[1]) & 0xff]));
  const tag = Object.entries(TAGS).find(([, name]) => name === part)?.[0];
  return tag === undefined ? undefined : Uint8Array.of(...chunk, Number(tag));
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
