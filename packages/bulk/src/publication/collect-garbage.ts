import type { Signal } from '@bloom/bytes';
import { mustBeBoolean, mustBeOptions, mustBeSignal, mustBeWhole, mustHaveAtMost, mustHaveMethods, shownValue } from '@bloom/bytes/internal';
import { BulkError } from '../part/bulk-error.js';
import { isTemporaryName, parseObjectName, partName } from '../part/object-name.js';
import { ageMsOf, type Store, type StoredObject } from '../store/store.js';
import { type PublishedState, readCurrent, readManifest, readPublication } from './publication.js';

/** Which objects to delete. */
export interface GarbageOptions {
  /** The number of replaced publications that stay readable, the most recent ones. Default: 3. */
  readonly keep?: number | undefined;
  /**
   * Objects that were written or replaced less than this many milliseconds ago are kept. It must be at least two hours longer than a job
   * takes from its first part to its publication, because a part that the job finds in the store may be an hour older. It must also be
   * longer than a reader goes without `refresh`. Default: a day.
   */
  readonly graceMs?: number | undefined;
  /** Only reports what would be deleted. Default: false. */
  readonly isDryRun?: boolean | undefined;
  /** The time in milliseconds since 1970. Default: the store's clock; that of this machine if the store does not report it, as is the case for folders and R2. */
  readonly nowMs?: number | undefined;
  readonly signal?: Signal | undefined;
}

const GARBAGE_OPTIONS: Record<keyof GarbageOptions, true> = { keep: true, graceMs: true, isDryRun: true, nowMs: true, signal: true };

const DEFAULT_KEEP = 3;
const DEFAULT_GRACE_MS = 24 * 3_600_000;
/** The number of objects that are deleted at the same time. */
const PARALLEL_DELETIONS = 8;

/** The deleted objects. */
export interface GarbageReport {
  /** The names of the objects that were deleted, or would be deleted. */
  readonly deleted: readonly string[];
  /** Their bytes. */
  readonly freedBytes: number;
  /** The MANIFESTs that are kept: the current one first, then replaced ones, the most recent first. */
  readonly manifests: readonly string[];
}

/**
 * Deletes objects that no reader needs: parts that neither the current MANIFEST nor one of the last replaced ones lists, and other
 * MANIFESTs. Objects that do not belong to a published database are left alone.
 *
 * Nothing is deleted when there is no CURRENT, or a kept MANIFEST cannot be read. An interrupted call can be repeated.
 *
 * @throws BulkError `BLOOM_NOT_PUBLISHED` and what {@link readPublication} throws.
 */
export async function collectGarbage(store: Store, options: GarbageOptions = {}): Promise<GarbageReport> {
  mustHaveAtMost('collectGarbage', 'a store and options', 2, arguments.length);
  mustHaveMethods('store', store, 'a store', ['get', 'head', 'list', 'delete']);
  mustBeOptions('collectGarbage', options, GARBAGE_OPTIONS);
  const { keep = DEFAULT_KEEP, graceMs = DEFAULT_GRACE_MS, isDryRun = false, nowMs, signal } = options;
  mustBeWhole('keep', keep, 0);
  mustBeWhole('graceMs', graceMs, 0);
  mustBeBoolean('isDryRun', isDryRun);
  if (nowMs !== undefined && !Number.isFinite(nowMs)) throw new RangeError(`nowMs must be milliseconds since 1970, got ${shownValue(nowMs)}`);
  if (signal !== undefined) mustBeSignal('signal', signal);
  const objects: StoredObject[] = [];
  for await (const object of store.list(signal)) objects.push(object);
  // Read after the list: parts that are published in between are young, or this MANIFEST lists them too.
  const current = await mustBePublished(store, signal);
  // An object of unknown age is young.
  const isYoung = (object: StoredObject): boolean => !(ageMsOf({ ...object, nowMs: nowMs ?? object.nowMs }) >= graceMs);
  const manifests = keptManifests(objects, current.manifest, keep, isYoung);
  const needed = new Set<string>();
  for (const name of manifests) addNeeded(needed, name === current.manifest ? current : await readManifest(store, name, signal));
  const garbage = objects.filter((object) => {
    if (isYoung(object)) return false;
    const name = parseObjectName(object.name);
    switch (name?.type) {
      case 'part':
      case 'manifest':
        return !needed.has(object.name);
      case 'replaced':
        return !needed.has(name.manifest);
      case 'current':
        return false;
      case undefined:
        return isTemporaryName(object.name);
    }
  });
  // A MANIFEST before the parts that it lists, so that none ever lists parts that are gone; its mark last, so that an
  // interrupted call can be made again.
  garbage.sort((a, b) => orderOf(a) - orderOf(b) || (a.name < b.name ? -1 : 1));
  const deleted = isDryRun ? garbage : await deleteOld(store, garbage, needed, current.manifest, isYoung, signal);
  return { deleted: deleted.map(({ name }) => name), freedBytes: deleted.reduce((sum, { byteLength }) => sum + byteLength, 0), manifests };
}

function addNeeded(needed: Set<string>, { manifest, levels }: PublishedState): void {
  needed.add(manifest);
  for (const { number } of levels.flat()) needed.add(partName(number));
}

/**
 * Deletes objects, except those that another job has written again since they were listed, because it needs the same part, and those that
 * a newer publication needs.
 */
async function deleteOld(
  store: Store,
  garbage: readonly StoredObject[],
  needed: Set<string>,
  manifest: string,
  isYoung: (object: StoredObject) => boolean,
  signal: Signal | undefined,
): Promise<StoredObject[]> {
  const deleted: StoredObject[] = [];
  let known = manifest;
  for (const batch of batchesOf(garbage)) {
    if ((await readCurrent(store, signal))?.manifest !== known) {
      const current = await mustBePublished(store, signal);
      addNeeded(needed, current);
      known = current.manifest;
    }
    const unneeded = batch.filter(({ name }) => !needed.has(name));
    const results = await Promise.allSettled(unneeded.map((object) => deleteIfOld(store, object, isYoung, signal)));
    for (const [i, result] of results.entries()) {
      if (result.status === 'rejected') throw result.reason;
      if (result.value) deleted.push(unneeded[i]!);
    }
  }
  return deleted;
}

/** Splits the objects into groups that are deleted at the same time. All objects of a group have the same place in the order. */
function* batchesOf(garbage: readonly StoredObject[]): Generator<readonly StoredObject[]> {
  for (let start = 0, end = 0; start < garbage.length; start = end) {
    do end++;
    while (end < garbage.length && end < start + PARALLEL_DELETIONS && orderOf(garbage[end]!) === orderOf(garbage[start]!));
    yield garbage.slice(start, end);
  }
}

/** @returns whether it was deleted. */
async function deleteIfOld(store: Store, { name }: StoredObject, isYoung: (object: StoredObject) => boolean, signal: Signal | undefined): Promise<boolean> {
  const now = await store.head(name, signal);
  return now !== undefined && !isYoung(now) && store.delete(name, now, signal);
}

async function mustBePublished(store: Store, signal: Signal | undefined): Promise<PublishedState> {
  const current = await readPublication(store, signal);
  if (current === undefined) throw new BulkError('BLOOM_NOT_PUBLISHED', `${store.name} has no CURRENT, so it is unknown which parts are needed`);
  return current;
}

/** The MANIFESTs whose parts are kept. */
function keptManifests(objects: readonly StoredObject[], current: string, keep: number, isYoung: (object: StoredObject) => boolean): string[] {
  const there = new Set(objects.map(({ name }) => name));
  const replaced = objects.flatMap((object) => {
    const name = parseObjectName(object.name);
    return name?.type === 'replaced' && name.manifest !== current && there.has(name.manifest) ? [{ object, manifest: name.manifest }] : [];
  });
  replaced.sort((a, b) => b.object.modifiedMs - a.object.modifiedMs || (a.manifest < b.manifest ? -1 : 1));
  // Some stores round times to seconds, so it is unknown which of the MANIFESTs replaced in the same second was the last.
  const oldestMs = replaced[keep - 1]?.object.modifiedMs ?? Infinity;
  const last = replaced.filter(({ object }, i) => i < keep || object.modifiedMs === oldestMs || isYoung(object)).map(({ manifest }) => manifest);
  // A MANIFEST that is about to be published has no mark yet.
  const young = objects.filter((object) => parseObjectName(object.name)?.type === 'manifest' && isYoung(object)).map(({ name }) => name);
  return [...new Set([current, ...last, ...young])];
}

function orderOf({ name }: StoredObject): number {
  const type = parseObjectName(name)?.type;
  return type === 'manifest' ? 0 : type === 'replaced' ? 2 : 1;
}
