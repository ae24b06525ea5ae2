import type { KeyInterval, KeyRange } from '@bloom/sstable';

/** A range whose bounds are bytes, for models that compare them. */
export type ByteRange = Omit<KeyRange, keyof KeyInterval> & { readonly [Name in keyof KeyInterval]: Uint8Array | undefined };
