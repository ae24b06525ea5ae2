import { type CorruptionCode, CorruptionError } from '@bloom/bytes';
import type { LogDrop, LogDropReason } from '@bloom/log';

/** What was left out because it is damaged. */
export interface Dropped {
  /**
   * The name of the file. A reader gives the name of the file's source, as in its errors, which may have a path; `Database`
   * gives the name within the folder.
   */
  readonly file: string;
  /** Where in the file it starts. */
  readonly offset: number;
  /** Bytes that were left out, where that is known: of logs, as LevelDB reports them. */
  readonly byteLength?: number;
  /** Of logs, in LevelDB's words. */
  readonly reason: string;
  /** The code that strict reading would give. */
  readonly code: string;
}

/** The code for bytes of a log that were dropped. */
export function logDropCode(reason: LogDropReason): CorruptionCode & ('BLOOM_BAD_LOG' | 'BLOOM_TOO_LARGE') {
  return reason === 'record too large' ? 'BLOOM_TOO_LARGE' : 'BLOOM_BAD_LOG';
}

/** The error that bytes of a log or MANIFEST are where they must not be damaged. */
export function logDamage({ offset, byteLength, reason }: LogDrop, file: string | undefined): CorruptionError {
  return new CorruptionError(logDropCode(reason), { structure: 'log record', offset, file }, `${reason} (${byteLength} bytes)`);
}

/** Says whether damage is an error, or is noted and skipped. */
export class DamagePolicy {
  readonly isStrict: boolean;
  readonly #dropped = new Map<string, Dropped>();

  readonly #onDropped: ((dropped: Dropped) => void) | undefined;

  constructor(isStrict: boolean, onDropped?: (dropped: Dropped) => void) {
    this.isStrict = isStrict;
    this.#onDropped = onDropped;
  }

  /** Adds what was left out before. */
  add(dropped: Dropped): void {
    const key = `${dropped.file}\n${dropped.offset}`;
    if (this.#dropped.has(key) || this.#dropped.size >= MAX_DROPPED) return;
    this.#dropped.set(key, dropped);
    this.#onDropped?.(dropped);
  }

  /** What was skipped so far, each place once. */
  get dropped(): readonly Dropped[] {
    return [...this.#dropped.values()];
  }

  /** Notes `error` and returns, or throws it: in strict reading, and when it is not about damage. */
  pass(error: unknown): void {
    if (this.isStrict || !(error instanceof CorruptionError)) throw error;
    const { file = '', offset, problem: reason, code } = error;
    this.add({ file, offset, reason, code });
  }
}

/** The most places that are remembered: a file of nothing but damage has one every few bytes. */
const MAX_DROPPED = 10_000;
