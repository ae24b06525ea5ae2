/** The options of `get`, and the result of a lookup in one input. */
import type { StoredVersion } from '@bloom/leveldb';
import type { FormatName } from '../formats/format.js';
import type { InputOptions } from '../inputs/opened-input.js';

export interface GetOptions extends InputOptions {
  readonly hex?: true;
  readonly allVersions?: true;
  readonly explain?: true | undefined;
  readonly decode?: true;
  readonly keys?: string;
  readonly format?: FormatName;
}

/** The result of a lookup in one input. */
export type Answer =
  | { readonly kind: 'value'; readonly value: Uint8Array }
  | { readonly kind: 'versions'; readonly versions: readonly StoredVersion[] }
  /** A deletion ends the lookup, so that older inputs are not searched. */
  | { readonly kind: 'deleted' };

export const DELETED: Answer = { kind: 'deleted' };

export type Lookup = (key: Uint8Array) => Answer | undefined | Promise<Answer | undefined>;
