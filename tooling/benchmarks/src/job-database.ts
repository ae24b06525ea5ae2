/** A database, as the jobs of `process-job.ts` use it. */
export interface JobDatabase {
  put(key: Uint8Array, value: Uint8Array): Promise<void>;
  /** Writes the entries from `start` to `end`. */
  batch(start: number, end: number, entryAt: (i: number) => readonly [Uint8Array, Uint8Array]): Promise<void>;
  compact(): Promise<void>;
  getSync(key: Uint8Array): Uint8Array | undefined;
  getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  /** Ways to iterate, by the name of the job: each calls `visit` with at most `limit` entries. */
  readonly walks: Readonly<Record<string, (limit: number, visit: Visit) => Promise<void> | void>>;
  close(): Promise<void>;
}

export type Visit = (key: Uint8Array, value: Uint8Array) => void;
