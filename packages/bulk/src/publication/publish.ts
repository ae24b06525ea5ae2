import type { Signal } from '@bloom/bytes';
import { kindOf, mustBeOptions, mustBeSignal, mustHaveAtMost, mustHaveMethods } from '@bloom/bytes/internal';
import { BulkError } from '../part/bulk-error.js';
import { CURRENT, replacedName } from '../part/object-name.js';
import { sha256Hex } from '../part/sha256.js';
import { createObject } from '../store/create-object.js';
import type { NewObject, Store } from '../store/store.js';
import type { Assembly } from './assemble.js';
import { encodeCurrent, type Publication, readCurrent, readPublication } from './publication.js';

/** How to publish. */
export interface PublishOptions {
  /**
   * The `etag` of the publication to replace, which the assembly need not be based on; null if there must be none. Default: the publication
   * on which the assembly is based must still be current.
   */
  readonly ifMatch?: string | null | undefined;
  readonly signal?: Signal | undefined;
}

const PUBLISH_OPTIONS: Record<keyof PublishOptions, true> = { ifMatch: true, signal: true };

/** What was published. */
export interface PublishResult {
  /** The name of the MANIFEST. */
  readonly manifest: string;
  /** Whether this call published it. False if it was already published, for example when a task runs again. */
  readonly isNew: boolean;
}

/**
 * Publishes an assembly: writes its MANIFEST, and makes CURRENT name it, unless another publication came first. CURRENT
 * names a complete database at every moment, whatever fails.
 *
 * It reads CURRENT, writes the MANIFEST, marks the MANIFEST that CURRENT names as replaced, and replaces CURRENT.
 *
 * @throws BulkError `BLOOM_CONFLICT` when another publication came first; `BLOOM_NOT_PUBLISHED` when the store has another program's
 *   database; `BLOOM_STORE_FAILED` when the store fails: repeat the call to find out whether the assembly is published.
 */
export async function publish(store: Store, assembly: Assembly, options: PublishOptions = {}): Promise<PublishResult> {
  mustHaveAtMost('publish', 'a store, an assembly and options', 3, arguments.length);
  mustHaveMethods('store', store, 'a store', ['get', 'head', 'create', 'put', 'replace']);
  mustBeOptions('publish', options, PUBLISH_OPTIONS);
  const { ifMatch, signal } = options;
  mustBeAssembly(assembly);
  if (ifMatch !== undefined && ifMatch !== null && typeof ifMatch !== 'string') throw new TypeError(`ifMatch must be an etag or null, got ${kindOf(ifMatch)}`);
  if (signal !== undefined) mustBeSignal('signal', signal);
  const { manifest, bytes, sha256 } = assembly;
  const before = await readCurrent(store, signal);
  if (before?.manifest === manifest) return { manifest, isNew: false };
  const isExpected = ifMatch === undefined ? before?.manifest === assembly.previous?.manifest : (before?.etag ?? null) === ifMatch;
  if (!isExpected) {
    // Reading it throws if another program wrote it.
    const now = await readPublication(store, signal);
    throw now !== undefined && ifMatch === undefined && assembly.previous === undefined ? alreadyPublished(store, manifest, now) : conflict(store, manifest, now);
  }
  await createObject(store, { name: manifest, bytes, sha256 }, signal);
  // This MANIFEST may have been marked as replaced before this call. The mark is then no evidence below.
  const wasReplaced = (await store.head(replacedName(manifest), signal)) !== undefined;
  if (before !== undefined) await store.put(await emptyObject(replacedName(before.manifest)), signal);
  const current = encodeCurrent(manifest);
  const answer = await store.replace({ name: CURRENT, bytes: current, sha256: await sha256Hex(current) }, before?.etag, signal);
  if (answer === 'replaced') return { manifest, isNew: true };
  const now = await readCurrent(store, signal);
  if (now?.manifest === manifest) return { manifest, isNew: answer === 'unknown' };
  // A request that seemed to fail did replace CURRENT, and another publication has replaced it since.
  if (answer === 'unknown' && !wasReplaced && (await store.head(replacedName(manifest), signal)) !== undefined) return { manifest, isNew: true };
  throw conflict(store, manifest, now);
}

/** A promise of an assembly, which has no MANIFEST, would look published in an empty store. */
function mustBeAssembly(value: unknown): void {
  const { manifest, bytes, sha256 } = Object(value) as Partial<Assembly>;
  if (typeof manifest === 'string' && bytes instanceof Uint8Array && typeof sha256 === 'string') return;
  throw new TypeError(`assembly must be the result of assemble, got ${kindOf(value)}`);
}

function conflict(store: Store, manifest: string, now: Pick<Publication, 'manifest'> | undefined): BulkError {
  const problem = `another publication came first: CURRENT in ${store.name} names ${now?.manifest ?? 'nothing'}. Read it, and assemble ${manifest} again on it`;
  return new BulkError('BLOOM_CONFLICT', problem, { file: CURRENT });
}

/** For an assembly without `previous`: assembled again with `previous`, it would be a delivery, which keeps the keys that it lacks. */
function alreadyPublished(store: Store, manifest: string, now: Pick<Publication, 'manifest'>): BulkError {
  const problem = `${store.name} has a database, ${now.manifest}, and ${manifest} was assembled without it. To replace the whole database, pass the etag of its publication as ifMatch; to add to it, assemble the parts with previous`;
  return new BulkError('BLOOM_CONFLICT', problem, { file: CURRENT });
}

async function emptyObject(name: string): Promise<NewObject> {
  const bytes = new Uint8Array(0);
  return { name, bytes, sha256: await sha256Hex(bytes) };
}
