/** What a verification of tables found, as text. */
import { counted } from '@bloom/report';
import type { Finding, Unchecked } from '@bloom/sstable/inspect';
import { EXIT } from '../failure.js';
import { note, printJson, printLines } from './output.js';

/** What was found in one input. */
export interface Verified {
  readonly path: string;
  /** What was verified; empty for the input itself. */
  readonly seen: string;
  readonly lines: readonly string[];
  /** Findings that are not among the lines. */
  readonly more: number;
  /** What was not verified, as {@link uncheckedText} says it. */
  readonly unchecked: string;
  /** All of it, for JSON. */
  readonly figures: object;
}

/** Prints what was found, and sets the exit code. @returns whether anything was found and printed as text. */
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
 * What could not be checked, and why: "; not checked: key order (the comparator is unknown)". Empty if all was checked.
 *
 * @param anyOrder whether --any-order was given, which is then the reason for leaving out the order.
 */
export function uncheckedText(unchecked: readonly Unchecked[], anyOrder: boolean): string {
  const parts = new Set(unchecked.map(({ part, reason }) => `${part} (${anyOrder && part === 'key order' ? '--any-order' : reason})`));
  return parts.size === 0 ? '' : `; not checked: ${[...parts].join(', ')}`;
}

/** Says how blocks can be read whose codec `bloom` does not have. */
export function noteCodecs(path: string, findings: readonly Pick<Finding, 'code'>[]): void {
  if (findings.some(({ code }) => code === 'BLOOM_UNSUPPORTED_CODEC')) note(`${path}: --codec MODULE supplies the codec that can read these blocks`);
}
