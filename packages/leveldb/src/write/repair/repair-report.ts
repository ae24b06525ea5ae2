import type { Dropped } from '../../folder/damage.js';

/**
 * Why a repair moved a file to the folder `lost`.
 *
 * - `replaced`: it is a MANIFEST.
 * - `replayed`: it is a log, whose entries are in tables now.
 * - `damaged`: it is a table, and what could be read of it is in other tables now; or it has the name of a table or a log, but is no file.
 * - `obsolete`: it is a log or a table that is not part of the database according to the MANIFEST, or a table whose number a sound
 *   table also has. It was not read.
 */
export type SetAsideReason = 'replaced' | 'replayed' | 'damaged' | 'obsolete';

/** A file that a repair moved to the folder `lost`. */
export interface SetAside {
  /** Its name in the folder of the database. */
  readonly file: string;
  /** Its name in `lost`. */
  readonly as: string;
  readonly reason: SetAsideReason;
}

/** What a repair did, and what could not be saved. */
export interface RepairReport {
  /** The intact MANIFEST that determined which files are part of the database; undefined when there is none, or `fromTablesAlone` was set. */
  readonly manifest: string | undefined;
  /**
   * The tables and logs that were used although no MANIFEST lists them, and tables that none lists at a valid level: deleted keys
   * can reappear from them.
   */
  readonly guessed: readonly string[];
  /** The sound tables that were kept unchanged. */
  readonly kept: readonly string[];
  /** The tables that were written: from logs, from damaged tables, and from tables that overlapped and whose order was not known. */
  readonly written: readonly string[];
  /** How many versions of keys these tables hold, deletions included. */
  readonly entries: number;
  /** The sequence of the last write that was found. */
  readonly lastSequence: bigint;
  /** The logs, the MANIFESTs and the damaged and obsolete tables, which are in the folder `lost` now. */
  readonly setAside: readonly SetAside[];
  /**
   * What could not be read, tables that the MANIFEST lists and the folder does not have, or in whose place it has another table, and tables
   * and logs that are folders or links to missing files; at most 10,000 places.
   */
  readonly lost: readonly Dropped[];
  /** The number of places that are not listed. */
  readonly moreLost: number;
}

/** The most places in a report: a file that is damaged throughout has one every few bytes. */
const MAX_LOST = 10_000;

/** The places that a repair cannot read, listed up to a limit and counted beyond it. */
export class LostPlaces {
  readonly listed: Dropped[] = [];
  /** How many are not listed. */
  more = 0;

  add(place: Dropped): void {
    if (this.listed.length < MAX_LOST) this.listed.push(place);
    else this.more++;
  }
}
