import type { PluginOptions } from '../plugins/plugin-options.js';

/** The bounds of a range of keys. An omitted bound is unlimited. */
export interface KeyBounds {
  readonly gte?: Uint8Array | undefined;
  readonly lt?: Uint8Array | undefined;
}

/** The tables to merge, in a form that can be sent to another thread. Descriptors are valid in all threads of the process. */
export interface MergeOrder {
  /** From the newest to the oldest. */
  readonly files: readonly { readonly name: string; readonly fd: number; readonly byteLength: number }[];
  readonly plugins: PluginOptions;
  /** Whether the keys are internal keys. */
  readonly isInternal: boolean;
  /** The range of keys to merge: user keys, even if the tables have internal keys. */
  readonly range?: KeyBounds;
}
