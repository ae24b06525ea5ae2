/** Names that were likely meant by misspelt ones. */

/** Longer names are not compared: the distance takes time in proportion to the product of two lengths. */
export const MAX_COMPARED_LENGTH = 64;

/** Names with fewer characters must begin with the same letter to be spellings of each other. */
const SHORT_LENGTH = 6;

/** The known name that is closest to `name`, if it differs in few characters. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined;
  let nearest: string | undefined;
  let fewest = Math.ceil(name.length / 3) + 1;
  for (const other of known) {
    const distance = editDistance(name.toLowerCase(), other.toLowerCase());
    if (distance < fewest) {
      fewest = distance;
      nearest = other;
    }
  }
  return nearest;
}

/**
 * The known name of which `name` is another spelling, where unknown names are allowed: it differs in case, in underscores and hyphens,
 * or by a typing error. Names of 8 characters and more may have two of those, names of 4 and more one, and shorter ones none. A short name
 * with another first letter is another word: neither `clock` nor `block` is a spelling of `lock`, and `async` is not one of `sync`.
 */
export function otherSpellingOf(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_COMPARED_LENGTH) return undefined;
  const folded = fold(name);
  return known.find((other) => {
    const length = Math.min(name.length, other.length);
    if (length < SHORT_LENGTH && !folded.startsWith(fold(other).charAt(0))) return false;
    return editDistance(folded, fold(other)) <= (length >= 8 ? 2 : length >= 4 ? 1 : 0);
  });
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** The fewest characters to insert, delete, replace, or swap with the next one. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, replaced, isSwap ? before[j - 2]! + 1 : Infinity));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
