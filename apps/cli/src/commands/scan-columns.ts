/** What `scan` prints of an entry, by its options. */
import type { StoredEntry } from '@bloom/leveldb';
import type { DatabaseEntry } from '@bloom/sstable/database';
import type { Columns, FactName } from '../formats/format-contract.js';
import type { FormatName } from '../formats/format.js';
import { factsOf, storedKey } from '../formats/version.js';
import type { PrintedEntry } from '../outputs/entry-output.js';
import type { KeyDecoderName } from '../decoded-keys/key-decoders.js';
import type { RangeOptions } from '../inputs/key-range.js';
import type { InputOptions } from '../inputs/opened-input.js';

/** What `scan` was asked to print. */
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
  // kv has no place for facts; the stored key has them.
  const shown = format === 'kv' || format === 'words' || keysOnly || valuesOnly ? [] : facts;
  return { key: valuesOnly !== true, value: keysOnly !== true, facts: shown, hex: hex === true };
}

/** What to print of a version; in kv, under the key that a database stores. */
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
