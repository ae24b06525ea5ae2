/** Which entries to go through. Of two lower or two upper bounds, the stricter one holds. */
export interface KeyRange {
  /** Keys after this one. */
  readonly gt?: Uint8Array | undefined;
  /** This key and those after it. */
  readonly gte?: Uint8Array | undefined;
  /** Keys before this one. */
  readonly lt?: Uint8Array | undefined;
  /** This key and those before it. */
  readonly lte?: Uint8Array | undefined;
  /** From the last entry to the first. */
  readonly reverse?: boolean | undefined;
  /** The most entries to give. */
  readonly limit?: number | undefined;
}

/** A range, and a signal that ends the walk through it. */
export interface AsyncKeyRange extends KeyRange {
  readonly signal?: AbortSignal | undefined;
}
