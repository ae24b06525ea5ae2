import type { CorruptionCode, Place, Structure, UnsupportedCode } from '@bloom/bytes';
import { isFormatError } from '../format/is-format-error.js';

/**
 * What is wrong with a table. The codes beyond those of errors:
 *
 * - `BLOOM_OVERLAP`: two blocks share bytes of the file.
 * - `BLOOM_OUT_OF_ORDER`: a key is not after the previous key.
 * - `BLOOM_BAD_SEPARATOR`: an index key is not between the keys of its block and those of the next.
 * - `BLOOM_BAD_RESTART`: a block's restarts are not the starts of entries, in ascending order.
 * - `BLOOM_FILTER_MISS`: a key of the table does not match its filter.
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

/** How many findings are listed by default. A crafted file can have millions; each takes about 300 bytes. */
export const DEFAULT_MAX_FINDINGS = 10_000;

/** The first findings, in the order in which they were made, and the number of further ones. */
export class FindingList {
  readonly findings: Finding[] = [];
  /** The number of findings that were not kept. */
  more = 0;
  readonly #maxFindings: number;

  constructor(maxFindings: number) {
    this.#maxFindings = maxFindings;
  }

  get count(): number {
    return this.findings.length + this.more;
  }

  /** @param problem is called only if the finding is kept. */
  add(code: FindingCode, { structure, offset }: Pick<Place, 'structure' | 'offset'>, problem: () => string): void {
    if (this.findings.length >= this.#maxFindings) this.more++;
    else this.findings.push({ code, structure, offset, problem: problem() });
  }

  /** Adds an error about the table. @throws any other error. */
  addError(error: unknown): Finding {
    const finding = findingOf(error);
    this.add(finding.code, finding, () => finding.problem);
    return finding;
  }
}

/** Turns an error about the table into a finding. @throws any other error, such as one of the source. */
export function findingOf(error: unknown): Finding {
  if (!isFormatError(error)) throw error;
  // The source has fewer bytes than it claimed.
  if (error.code === 'BLOOM_TRUNCATED') throw error;
  const { code, structure, offset, problem } = error;
  return { code, structure, offset, problem };
}
