import type { PluginOptions } from '../plugins/plugin-options.js';

/** The ends of a range of keys; left out: without end. */
export interface KeyBounds {
  readonly gte?: Uint8Array | undefined;
  readonly lt?: Uint8Array | undefined;
}

/** What is merged, in a form that can be handed to another thread: descriptors are those of the process. */
export interface MergeOrder {
  /** The newest first. */
  readonly files: readonly { readonly name: string; readonly fd: number; readonly byteLength: number }[];
  readonly plugins: PluginOptions;
  /** Whether the keys are those of a database, with sequence and type. */
  readonly isInternal: boolean;
  /** Only keys from `gte` on, and before `lt`: keys of users, also where those of the tables have sequence and type. */
  readonly range?: KeyBounds;
}
