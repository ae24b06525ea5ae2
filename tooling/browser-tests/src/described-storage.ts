/** What a page says that it has stored, in the texts of `describeClone`. */

/** A record as the page has it. */
export interface DescribedRecord {
  readonly key: string;
  readonly value: string;
}

/** An item of Local or Session Storage as the page has it; the texts as JSON, because their surrogates may have no partner. */
export interface DescribedItem {
  readonly key: string;
  readonly value: string;
}

/** All that a page has stored. */
export interface Stored {
  /** By stores, and by indexes as `store.index`. */
  readonly records: Readonly<Record<string, readonly DescribedRecord[]>>;
  /** Values that the browser itself does not read back as they were stored. */
  readonly misread: number;
  readonly local: readonly DescribedItem[];
  readonly session: readonly DescribedItem[];
}
