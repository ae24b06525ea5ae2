/**
 * What S3 answers: XML of a few known elements, and errors with a code.
 *
 * Source: the Amazon S3 API Reference, ListObjectsV2, CreateMultipartUpload and Error Responses.
 */
import type { StoredObject } from '../store/store.js';

/** A page of a list. */
export interface ListPage {
  readonly objects: readonly StoredObject[];
  /** Where the next page begins; undefined for the last. */
  readonly next: string | undefined;
}

/** A page of the objects whose keys begin with `prefix`, which their names are without. Keys are encoded as in URLs. */
export function decodeListPage(xml: string, prefix: string): ListPage {
  const objects: StoredObject[] = [];
  for (const [, contents] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = decodeURIComponent((elementOf(contents!, 'Key') ?? '').replaceAll('+', ' '));
    const name = key.slice(prefix.length);
    // What lies in folders within is none of the database's.
    if (!key.startsWith(prefix) || name === '' || name.includes('/')) continue;
    objects.push({ name, byteLength: Number(elementOf(contents!, 'Size')), modifiedMs: Date.parse(elementOf(contents!, 'LastModified') ?? '') });
  }
  const isTruncated = elementOf(xml, 'IsTruncated') === 'true';
  return { objects, next: isTruncated ? elementOf(xml, 'NextContinuationToken') : undefined };
}

/** The contents of the first element of a name; undefined where there is none. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replace(/&(?:amp|lt|gt|quot|apos|#([0-9]+)|#x([0-9a-f]+));/gi, (entity: string, decimal?: string, hex?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }[entity.toLowerCase()]!;
  });
}
