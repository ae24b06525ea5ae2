/** The report of a page about its stored data, in the texts of `describeClone`. */

/** A record as reported by the page. */
export interface DescribedRecord {
  readonly key: string;
  readonly value: string;
}

/** An item of Local or Session Storage as reported by the page. Texts are JSON, because they may have unpaired surrogates. */
export interface DescribedItem {
  readonly key: string;
  readonly value: string;
}

/** All stored data of a page. */
export interface Stored {
  /** Records by store, and by index as `store.index`. */
  readonly records: Readonly<Record<string, readonly DescribedRecord[]>>;
  /** The number of values that the browser itself reads back differently. */
  readonly misread: number;
  readonly local: readonly DescribedItem[];
  readonly session: readonly DescribedItem[];
}
