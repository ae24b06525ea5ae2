/**
 * Responses of S3: XML with a few known elements, and errors with a code.
 *
 * Source: the Amazon S3 API Reference, ListObjectsV2, CreateMultipartUpload and Error Responses.
 */
import type { StoredObject } from '../store/store.js';

/** A page of a list. */
export interface ListPage {
  readonly objects: readonly StoredObject[];
  /** The token of the next page; undefined for the last page. */
  readonly next: string | undefined;
}

/** A page of the objects whose keys begin with `prefix`. Names are without the prefix. Undefined if `xml` is not such a page. @param date the Date header of the response. */
export function decodeListPage(xml: string, prefix: string, date: string | null): ListPage | undefined {
  if (!xml.includes('<ListBucketResult')) return undefined;
  const objects: StoredObject[] = [];
  const isEncoded = elementOf(xml, 'EncodingType') === 'url';
  for (const [, contents] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = keyOf(elementOf(contents!, 'Key') ?? '', isEncoded, prefix);
    if (key === undefined) return undefined;
    const name = key.slice(prefix.length);
    // Objects in folders below the prefix do not belong to the database.
    if (!key.startsWith(prefix) || name === '' || name.includes('/')) continue;
    const object = describedObject(name, elementOf(contents!, 'Size') ?? null, elementOf(contents!, 'LastModified') ?? null, date);
    if (object === undefined) return undefined;
    objects.push(object);
  }
  const isTruncated = elementOf(xml, 'IsTruncated') === 'true';
  const next = isTruncated ? elementOf(xml, 'NextContinuationToken') : undefined;
  return isTruncated && (next ?? '') === '' ? undefined : { objects, next };
}

/** The description of an object; undefined if the response lacks the length or the date, because a wrong date could delete the object. */
export function describedObject(name: string, length: string | null, modified: string | null, date: string | null): StoredObject | undefined {
  const modifiedMs = Date.parse(modified ?? '');
  const nowMs = Date.parse(date ?? '');
  if (length === null || !/^[0-9]+$/.test(length) || Number.isNaN(modifiedMs)) return undefined;
  return { name, byteLength: Number(length), modifiedMs, ...(!Number.isNaN(nowMs) && { nowMs }) };
}

/** A decoded key. It was requested in URL encoding, but some servers ignore that, and some do not say whether it is encoded. */
function keyOf(text: string, isEncoded: boolean, prefix: string): string | undefined {
  if (!isEncoded && text.startsWith(prefix)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return isEncoded ? undefined : text;
  }
}

/** The contents of the first element of a name; undefined if there is none. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replace(/&(?:amp|lt|gt|quot|apos|#([0-9]+)|#x([0-9a-f]+));/gi, (entity: string, decimal?: string, hex?: string) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    return { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }[entity.toLowerCase()]!;
  });
}
