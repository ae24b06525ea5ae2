import {
  CorruptionError,
  type CorruptionCode,
  type Place,
  type Structure,
  UnsupportedError,
  type UnsupportedCode,
} from '@bloom/bytes';

/**
 * What only an inspection of the whole table can find.
 *
 * - `BLOOM_OVERLAP`: two blocks share bytes of the file.
 * - `BLOOM_OUT_OF_ORDER`: a key is not after the key before it.
 * - `BLOOM_BAD_SEPARATOR`: an index key is not between the keys of its block and those of the next.
 * - `BLOOM_BAD_RESTART`: a block's restarts are not at the starts of entries, in order.
 * - `BLOOM_FILTER_MISS`: a key that is in the table is denied by its filter.
 */
export type FindingCode =
  | CorruptionCode
  | UnsupportedCode
  | 'BLOOM_OVERLAP'
  | 'BLOOM_OUT_OF_ORDER'
  | 'BLOOM_BAD_SEPARATOR'
  | 'BLOOM_BAD_RESTART'
  | 'BLOOM_FILTER_MISS';

/** Something wrong with a table. */
export interface Finding {
  readonly code: FindingCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  readonly problem: string;
}

/** How many findings are listed by default. A file can be made to have millions; each takes some 300 bytes. */
export const DEFAULT_MAX_FINDINGS = 10_000;

/** Findings in the order in which they were made: the first ones, and the number of the others. */
export class FindingList {
  readonly findings: Finding[] = [];
  /** Findings that were counted and not kept. */
  more = 0;
  readonly #maxFindings: number;

  constructor(maxFindings: number) {
    this.#maxFindings = maxFindings;
  }

  get count(): number {
    return this.findings.length + this.more;
  }

  /** @param problem made only if the finding is kept. */
  add(code: FindingCode, { structure, offset }: Pick<Place, 'structure' | 'offset'>, problem: () => string): void {
    if (this.findings.length >= this.#maxFindings) this.more++;
    else this.findings.push({ code, structure, offset, problem: problem() });
  }

  /** Adds what an error says. @throws the error, if it is not about the table. */
  addError(error: unknown): Finding {
    const finding = findingOf(error);
    this.add(finding.code, finding, () => finding.problem);
    return finding;
  }
}

/** What an error about the table says. @throws the error, if it is about anything else: the source, for example. */
export function findingOf(error: unknown): Finding {
  if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
  // The source has other bytes than it said.
  if (error.code === 'BLOOM_TRUNCATED') throw error;
  const { code, structure, offset, problem } = error;
  return { code, structure, offset, problem };
}
