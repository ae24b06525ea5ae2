import { type CorruptionCode, CorruptionError } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import type { LogDrop, LogDropReason } from '@bloom/log';

/** Data that was left out because it is damaged. */
export interface Dropped {
  /**
   * The name of the file. A reader gives the name of the file's source, as in its errors, which may have a path; `Database`
   * gives the name within the folder.
   */
  readonly file: string;
  /** Its offset in the file. */
  readonly offset: number;
  /** The number of bytes that were left out, if that is known: for logs, as LevelDB reports them. */
  readonly byteLength?: number;
  /** The reason; for logs, in LevelDB's words. */
  readonly reason: string;
  /** The code of the error that strict reading would throw. */
  readonly code: string;
}

export function logDropCode(reason: LogDropReason): CorruptionCode & ('BLOOM_BAD_LOG' | 'BLOOM_TOO_LARGE') {
  return reason === 'record too large' ? 'BLOOM_TOO_LARGE' : 'BLOOM_BAD_LOG';
}

/** The error for damage in a log or MANIFEST where none is allowed. */
export function logDamage({ offset, byteLength, reason }: LogDrop, file: string | undefined): CorruptionError {
  return new CorruptionError(logDropCode(reason), { structure: 'log record', offset, file }, `${reason} (${numberOf(byteLength, 'byte')})`);
}

/** Decides whether damage is an error, or is recorded and skipped. */
export class DamagePolicy {
  readonly isStrict: boolean;
  readonly #dropped = new Map<string, Dropped>();

  readonly #onDropped: ((dropped: Dropped) => void) | undefined;

  constructor(isStrict: boolean, onDropped?: (dropped: Dropped) => void) {
    this.isStrict = isStrict;
    this.#onDropped = onDropped;
  }

  /** Adds data that was left out earlier. */
  add(dropped: Dropped): void {
    const key = `${dropped.file}\n${dropped.offset}`;
    if (this.#dropped.has(key) || this.#dropped.size >= MAX_DROPPED) return;
    this.#dropped.set(key, dropped);
    this.#onDropped?.(dropped);
  }

  addAll(other: DamagePolicy): void {
    for (const dropped of other.#dropped.values()) this.add(dropped);
  }

  /** What was skipped so far, each place once. */
  get dropped(): readonly Dropped[] {
    return [...this.#dropped.values()];
  }

  /** Records `error` and returns, or throws it: in strict reading, and when it does not report damage. */
  pass(error: unknown): void {
    if (this.isStrict || !(error instanceof CorruptionError)) throw error;
    const { file = '', offset, problem: reason, code } = error;
    this.add({ file, offset, reason, code });
  }
}

/** The most places that are recorded: a file full of damage has one every few bytes. */
const MAX_DROPPED = 10_000;
