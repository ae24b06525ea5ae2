import { seeded } from '@bloom/fixtures';
import { arrayRun, assemble, type Assembly, type BulkEntry, levelsToMerge, merge, type Part, publish, type Publication, readPublication, type Run, type Store, writeParts } from '@bloom/bulk';

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
export const keyAt = (i: number): Uint8Array => utf8(`key${String(i).padStart(9, '0')}`);

/** So small that a few thousand entries make several parts. */
export const SMALL = { partBytes: 16 * 2 ** 10, blockSize: 1024 } as const;

/** Entries of the numbers, in ascending order. */
export function entriesOf(numbers: Iterable<number>, text = 'value'): BulkEntry[] {
  return [...numbers].map((i) => [keyAt(i), utf8(`${text} ${i} ${'x'.repeat(i % 50)}`)]);
}

export function range(from: number, to: number, step = 1): number[] {
  const numbers: number[] = [];
  for (let i = from; i < to; i += step) numbers.push(i);
  return numbers;
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function partsOf(store: Store, entries: readonly BulkEntry[], sequence: bigint): Promise<Part[]> {
  return collected(writeParts(store, [entries], { ...SMALL, sequence }));
}

/** Writes entries and publishes them above what is published. */
export async function deliver(store: Store, entries: readonly BulkEntry[], sequence: bigint): Promise<Assembly> {
  const previous = await readPublication(store);
  const assembly = await assemble(store, await partsOf(store, entries, sequence), { previous });
  await publish(store, assembly);
  return assembly;
}

/** The run of a published level, by the bytes of a store. */
export async function levelEntries(store: Store, publication: Publication, level: number): Promise<Run> {
  const [{ levelRun, partName }, { READ_ONCE }] = await Promise.all([import('@bloom/bulk'), import('@bloom/bulk/internal')]);
  const { DatabaseTable } = await import('@bloom/sstable/database');
  const { MemorySource } = await import('@bloom/sstable');
  return levelRun(publication.levels[level]!, async ({ number }) => {
    const name = partName(number);
    return DatabaseTable.open(new MemorySource((await store.get(name))!.bytes, name), READ_ONCE);
  });
}

/** Merges two levels into parts, and publishes them in their place. */
export async function mergeLevels(store: Store, publication: Publication, [upper, lower]: readonly [number, number]): Promise<void> {
  const runs = [await levelEntries(store, publication, upper), await levelEntries(store, publication, lower)];
  const isLowest = publication.levels.slice(lower + 1).every((parts) => parts.length === 0);
  const sequence = publication.levels[upper]![0]!.sequence;
  const parts = await collected(writeParts(store, merge(runs, { dropDeletions: isLowest }), { ...SMALL, sequence }));
  await publish(store, await assemble(store, parts, { previous: publication, replaces: [...publication.levels[upper]!, ...publication.levels[lower]!] }));
}

/** Merges levels as long as there is no room for a delivery. */
export async function makeRoom(store: Store): Promise<boolean> {
  const publication = await readPublication(store);
  const levels = publication && levelsToMerge(publication);
  if (levels === undefined) return false;
  await mergeLevels(store, publication!, levels);
  return true;
}

/** What is published after changes, as a sorted map. */
export class Model {
  readonly #values = new Map<string, Uint8Array>();

  apply(entries: readonly BulkEntry[]): void {
    for (const [key, value] of entries) {
      const text = new TextDecoder().decode(key);
      if (value === undefined) this.#values.delete(text);
      else this.#values.set(text, value);
    }
  }

  /** As one text, so that a difference is found quickly. */
  toString(): string {
    return textOf([...this.#values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [utf8(key), value] as const));
  }
}

/** Entries as one text. */
export function textOf(entries: Iterable<readonly [Uint8Array, Uint8Array]>): string {
  const decoder = new TextDecoder();
  return Array.from(entries, ([key, value]) => `${decoder.decode(key)}=${decoder.decode(value)}`).join('\n');
}

/** Changes and deletions of some of the keys below `keys`, in ascending order. */
export function someChanges(seed: number, keys: number, count: number): BulkEntry[] {
  const random = seeded(seed);
  const numbers = [...new Set(Array.from({ length: count }, () => random.below(keys)))].sort((a, b) => a - b);
  return numbers.map((i) => [keyAt(i), random.below(3) === 0 ? undefined : utf8(`changed by ${seed}: ${i} ${'y'.repeat(random.below(60))}`)]);
}

export { arrayRun };
