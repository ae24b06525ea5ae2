/** The result of a verification as text. */
import { counted } from '@bloom/report';
import type { Finding, Unchecked } from '@bloom/sstable/inspect';
import { EXIT } from '../exit-codes.js';
import { note, printJson, printLines } from './output.js';

/** The result for one input. */
export interface Verified {
  readonly path: string;
  /** What was verified; empty for the input itself. */
  readonly seen: string;
  readonly lines: readonly string[];
  /** The number of findings that are not listed. */
  readonly more: number;
  /** The parts that were not verified, from {@link uncheckedText}. */
  readonly unchecked: string;
  /** The same facts as JSON. */
  readonly figures: object;
}

/** Prints the result, and sets the exit code. @returns whether findings were printed as text. */
export async function printVerified({ path, seen, lines, more, unchecked, figures }: Verified, asJson: boolean): Promise<boolean> {
  if (lines.length > 0) process.exitCode = EXIT.no;
  if (asJson) {
    await printJson({ input: path, ...figures });
    return false;
  }
  await printLines(more > 0 ? [...lines, `and ${more} more`] : lines);
  const isSound = lines.length === 0;
  note(`${path}: ${isSound ? 'nothing is wrong' : counted(lines.length + more, 'finding')}${seen === '' ? '' : ` ${isSound ? 'with' : 'in'} ${seen}`}${unchecked}`);
  return !isSound;
}

/**
 * The parts that could not be checked, and why: "; not checked: key order (the comparator is unknown)". Empty if all was checked.
 *
 * @param anyOrder whether --any-order was given, which is then the reason for leaving out the order.
 */
export function uncheckedText(unchecked: readonly Unchecked[], anyOrder: boolean): string {
  const parts = new Set(unchecked.map(({ part, reason }) => `${part} (${anyOrder && part === 'key order' ? '--any-order' : reason})`));
  return parts.size === 0 ? '' : `; not checked: ${[...parts].join(', ')}`;
}

/** Notes how to read the blocks of findings whose codec `bloom` does not have. */
export function noteCodecs(path: string, findings: readonly Pick<Finding, 'code'>[]): void {
  if (findings.some(({ code }) => code === 'BLOOM_UNSUPPORTED_CODEC')) note(`${path}: --codec MODULE supplies the codec that can read these blocks`);
}
