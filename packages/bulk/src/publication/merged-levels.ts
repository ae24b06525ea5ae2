/**
 * The line of JSON by which a task that merges levels tells `assemble` which levels these were:
 *
 *     {"merges":"46107f…"}
 *
 * Levels move when others are merged, so their numbers do not identify them. The SHA-256 is that of the numbers of their parts: in
 * decimal, in ascending order, each followed by a newline.
 */
import { sha256Hex } from '../part/sha256.js';
import { usedLevels } from './assemble.js';
import type { PublishedPart, PublishedState } from './publication.js';

async function digestOf(parts: readonly Pick<PublishedPart, 'number'>[]): Promise<string> {
  const numbers = parts.map(({ number }) => number).sort((a, b) => (a < b ? -1 : 1));
  return sha256Hex(new TextEncoder().encode(numbers.map((number) => `${number}\n`).join('')));
}

/** The line for these parts, which are all parts of some levels, without a newline. */
export async function encodeMergedLevels(parts: readonly Pick<PublishedPart, 'number'>[]): Promise<string> {
  return JSON.stringify({ merges: await digestOf(parts) });
}

/** The digest in a line; undefined if it is another one, such as the description of a part. */
export function decodeMergedLevels(line: string): string | undefined {
  return /^\{"merges":"([0-9a-f]{64})"\}$/.exec(line.trim())?.[1];
}

/** The parts of the neighbouring levels that a line names; undefined if they are no longer published. */
export async function partsOfMergedLevels(digest: string, state: PublishedState): Promise<readonly PublishedPart[] | undefined> {
  const used = usedLevels(state);
  for (let from = 0; from < used.length; from++) {
    for (let to = from; to < used.length; to++) {
      const parts = used.slice(from, to + 1).flatMap((level) => state.levels[level]!);
      if ((await digestOf(parts)) === digest) return parts;
    }
  }
  return undefined;
}
