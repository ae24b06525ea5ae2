/**
 * The names of the objects of a published database.
 *
 *     CURRENT                                the name of the MANIFEST, and a newline: the only object that is ever replaced
 *     MANIFEST-3166341107893346437           one version edit with all parts
 *     MANIFEST-3166341107893346437.replaced  empty; written when CURRENT is about to name another MANIFEST
 *     1262190158462219392.ldb                a part
 *
 * The number of a part or a MANIFEST is the first 62 bits of the SHA-256 of its bytes: the same bytes always get the same name,
 * and no name is ever used for other bytes. LevelDB and its relatives ignore names such as the third.
 */
import { parseFileName } from '@bloom/leveldb';
import { isNamedByBytes } from '@bloom/leveldb/internal';

/** All numbers are below it. LevelDB numbers new files from here, so that it can write into a copy. */
export const NUMBER_LIMIT = 2n ** 62n;

/** `CURRENT`. */
export const CURRENT = 'CURRENT';

const REPLACED = '.replaced';

/** The number that the bytes with this SHA-256, in hexadecimal, have in a name. */
export function numberOfSha256(sha256: string): bigint {
  return BigInt(`0x${sha256.slice(0, 16)}`) >> 2n;
}

/** The name of the part with this number. */
export function partName(number: bigint): string {
  return `${padded(number)}.ldb`;
}

/** The name of the MANIFEST with this number. */
export function manifestName(number: bigint): string {
  return `MANIFEST-${padded(number)}`;
}

/** The name of the object that marks a MANIFEST as replaced. */
export function replacedName(manifest: string): string {
  return manifest + REPLACED;
}

/** The meaning of an object's name. */
export type ObjectName =
  | { readonly type: 'current' }
  | { readonly type: 'part'; readonly number: bigint }
  | { readonly type: 'manifest'; readonly number: bigint }
  /** The mark of a MANIFEST that was replaced. */
  | { readonly type: 'replaced'; readonly manifest: string };

/** The meaning of a name; undefined if the object does not belong to a published database. */
export function parseObjectName(name: string): ObjectName | undefined {
  if (name.endsWith(REPLACED)) {
    const manifest = name.slice(0, -REPLACED.length);
    return parseObjectName(manifest)?.type === 'manifest' ? { type: 'replaced', manifest } : undefined;
  }
  const file = parseFileName(name);
  if (file?.type === 'current') return { type: 'current' };
  if (file?.type === 'table' && name === partName(file.number)) return { type: 'part', number: file.number };
  if (file?.type === 'manifest' && name === manifestName(file.number)) return { type: 'manifest', number: file.number };
  return undefined;
}

/** Whether these contents of CURRENT may be those of a published database: they name a MANIFEST that may be named after its bytes. */
export function mayBePublished(current: Uint8Array): boolean {
  const object = parseObjectName(new TextDecoder().decode(current).trimEnd());
  return object?.type === 'manifest' && isNamedByBytes(object.number);
}

/** Whether a name is that of a file that a killed writer leaves in a folder. */
export function isTemporaryName(name: string): boolean {
  return /^\.(?:CURRENT|MANIFEST-[0-9]+(?:\.replaced)?|[0-9]+\.ldb)\.[0-9a-f]+\.tmp$/.test(name);
}

function padded(number: bigint): string {
  return number.toString().padStart(6, '0');
}
