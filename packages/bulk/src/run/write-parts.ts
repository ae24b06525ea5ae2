import type { Signal } from '@bloom/bytes';
import { copiedOptions, mustBeSignal, mustHaveAtMost, mustHaveMethods } from '@bloom/bytes/internal';
import { InputSteps, mustBeSteppable } from '@bloom/sstable/internal';
import { partName } from '../part/object-name.js';
import type { Part } from '../part/part.js';
import { PART_OPTIONS, type PartOptions, PartWriter } from '../part/part-writer.js';
import { createObject } from '../store/create-object.js';
import type { Store } from '../store/store.js';
import type { BulkInputEntry } from './run.js';

/** How to write parts into a store. */
export interface WritePartsOptions extends PartOptions {
  /** Stops the writing, also while entries are awaited. The parts that are in the store stay there. */
  readonly signal?: Signal | undefined;
}

const WRITE_PARTS_OPTIONS: Record<keyof WritePartsOptions, true> = { ...PART_OPTIONS, signal: true };

/** Entries in ascending order of their keys, several at a time: the result of {@link merge}, or arrays of entries. */
export type BulkInput = AsyncIterable<readonly BulkInputEntry[]> | Iterable<readonly BulkInputEntry[]>;

/**
 * Writes entries as parts into a store. Equal parts are stored once, so a task can be repeated, or run twice at the same time.
 *
 * @returns the description of each part as soon as it is in the store.
 * @throws TypeError or RangeError for an invalid option, or keys that are not ascending; BulkError when the store fails.
 */
export async function* writeParts(store: Store, entries: BulkInput, options: WritePartsOptions): AsyncGenerator<Part, void, undefined> {
  mustHaveMethods('store', store, 'a store', ['create', 'put', 'head']);
  mustHaveAtMost('writeParts', 'a store, entries and options', 3, arguments.length);
  const { signal, ...partOptions } = copiedOptions('writeParts', options, WRITE_PARTS_OPTIONS);
  if (signal !== undefined) mustBeSignal('signal', signal);
  mustBeSteppable('entries', entries);
  const writer = new PartWriter(partOptions);
  signal?.throwIfAborted();
  const steps = new InputSteps<readonly BulkInputEntry[]>('entries', entries, signal);
  try {
    for (let step = await steps.next(); step.done !== true; step = await steps.next()) {
      for (const [key, value] of step.value) {
        if (value === undefined) writer.delete(key);
        else writer.put(key, value);
        if (writer.isFull) yield await stored(store, writer, signal);
      }
      signal?.throwIfAborted();
    }
  } finally {
    await steps.leave();
  }
  if (!writer.isEmpty) yield await stored(store, writer, signal);
}

async function stored(store: Store, writer: PartWriter, signal: Signal | undefined): Promise<Part> {
  const { part, bytes } = await writer.take();
  await createObject(store, { name: partName(part.number), bytes, sha256: part.sha256 }, signal);
  return part;
}
