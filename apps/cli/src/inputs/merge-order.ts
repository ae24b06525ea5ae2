import type { PluginOptions } from '../plugins/plugin-options.js';

/** What is merged, in a form that can be handed to another thread: descriptors are those of the process. */
export interface MergeOrder {
  /** The newest first. */
  readonly files: readonly { readonly name: string; readonly fd: number; readonly byteLength: number }[];
  readonly plugins: PluginOptions;
  /** Whether the keys are those of a database, with sequence and type. */
  readonly isInternal: boolean;
}
