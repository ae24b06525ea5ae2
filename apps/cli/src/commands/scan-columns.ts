/** The columns that `scan` prints, according to its options. */
import type { StoredEntry } from '@bloom/leveldb';
import type { DatabaseEntry } from '@bloom/sstable/database';
import type { Columns, FactName } from '../formats/format-contract.js';
import type { FormatName } from '../formats/format.js';
import { factsOf, storedKey } from '../formats/version.js';
import type { PrintedEntry } from '../outputs/entry-output.js';
import type { KeyDecoderName } from '../decoded-keys/key-decoders.js';
import type { RangeOptions } from '../inputs/key-range.js';
import type { InputOptions } from '../inputs/opened-input.js';

/** The options of `scan`. */
export interface ScanOptions extends InputOptions, RangeOptions {
  readonly allVersions?: true;
  readonly live?: true;
  readonly reverse?: true;
  readonly limit?: number;
  readonly format: FormatName;
  readonly keysOnly?: true;
  readonly valuesOnly?: true;
  readonly decodeKeys?: KeyDecoderName;
  readonly decode?: true;
}

export function columnsOf({ keysOnly, valuesOnly, hex, format }: ScanOptions, facts: readonly FactName[] = []): Columns {
  // kv has no columns for facts, but the stored key contains them.
  const shown = format === 'kv' || format === 'words' || keysOnly || valuesOnly ? [] : facts;
  return { key: valuesOnly !== true, value: keysOnly !== true, facts: shown, hex: hex === true };
}

/** Makes the entry to print from a version. In kv, its key is the internal key. */
export function versionPrinter(
  format: FormatName,
  { facts }: Columns,
  keeps: ((key: Uint8Array) => boolean) | undefined,
): (version: DatabaseEntry | StoredEntry) => PrintedEntry | undefined {
  return (version) => {
    if (keeps?.(version.key) === false) return undefined;
    return { key: format === 'kv' ? storedKey(version) : version.key, value: version.value, facts: factsOf(version, facts) };
  };
}
