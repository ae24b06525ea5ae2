/** `scan`, `get` and `find` with `--decode`. */
import { EXIT, Failure } from '../failure.js';
import type { FormatName } from '../formats/format.js';
import type { WantedRange } from '../inputs/key-range.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { note } from '../outputs/output.js';
import { withDecodedEntries } from '../web-storage/decoded-entries.js';
import type { ReadEntry } from '../web-storage/read-entry.js';
import { DECODED_FORMATS, type DecodedColumns, type DecodedFormat, DecodedOutput, textOf } from '../web-storage/decoded-output.js';
import type { ScanOptions } from './scan-columns.js';

/** Prints the entries in a range of stored keys. */
export async function scanDecoded(paths: readonly string[], wanted: WantedRange, options: ScanOptions): Promise<void> {
  const { keysOnly, valuesOnly, allVersions, reverse, limit } = options;
  if (options.live) throw new Failure('--decode prints versions of all files: omit --live');
  if (allVersions && reverse) throw new Failure('--all-versions prints file by file: omit --reverse');
  const output = new DecodedOutput(decodedFormat(options.format), { key: !valuesOnly, value: !keysOnly, place: keysOnly === undefined && valuesOnly === undefined }, limit);
  try {
    for (const path of paths) await withDecodedEntries(path, { ...options, wanted, allVersions, reverse }, (shown, entries) => output.print(shown, entries));
  } finally {
    await output.flush();
  }
}

/** The options of `get` and `find`. */
interface KeyOptions extends InputOptions {
  readonly format?: FormatName | undefined;
  readonly hex?: true;
  readonly allVersions?: true | undefined;
}

/**
 * Prints the entries of decoded keys. A key is a text, or JSON for a key of another type.
 *
 * @param isPlain whether to print only values if no format was given.
 */
export async function findDecoded(paths: readonly string[], keys: readonly string[], options: KeyOptions, isPlain: boolean): Promise<void> {
  if (options.hex) throw new Failure('--decode takes keys as text: omit --hex');
  const columns: DecodedColumns = isPlain ? { key: false, value: true, place: false } : { key: true, value: true, place: true };
  const output = new DecodedOutput(decodedFormat(options.format ?? 'tsv'), columns);
  const missing = new Set(keys);
  async function* matching(entries: AsyncIterable<ReadEntry>): AsyncGenerator<ReadEntry> {
    for await (const entry of entries) {
      const text = textOf(entry.key);
      if (!keys.includes(text)) continue;
      missing.delete(text);
      yield entry;
    }
  }
  try {
    for (const path of paths) await withDecodedEntries(path, options, (shown, entries) => output.print(shown, matching(entries)));
  } finally {
    await output.flush();
  }
  for (const key of missing) {
    process.exitCode = EXIT.no;
    note(`${key === '' ? '""' : key}: not found`);
  }
}

function decodedFormat(format: FormatName): DecodedFormat {
  if (!(DECODED_FORMATS as readonly string[]).includes(format)) throw new Failure(`--decode prints ${DECODED_FORMATS.join(' or ')}: use one of them instead of --format ${format}`);
  return format as DecodedFormat;
}
