/** `scan`, `get` and `find` with `--decode`. */
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import type { FormatName } from '../formats/format.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { note } from '../outputs/output.js';
import { withDecodedEntries } from '../web-storage/decoded-entries.js';
import type { ReadEntry } from '../web-storage/read-entry.js';
import { DECODED_FORMATS, type DecodedColumns, type DecodedFormat, DecodedOutput, textOf } from '../web-storage/decoded-output.js';
import type { ScanOptions } from './scan-columns.js';

/** Prints all entries. */
export async function scanDecoded(paths: readonly string[], options: ScanOptions): Promise<void> {
  const { keysOnly, valuesOnly, allVersions, reverse, limit } = options;
  if (options.live) throw new Failure('--decode prints versions of all files: omit --live');
  if (allVersions && reverse) throw new Failure('--all-versions prints file by file: omit --reverse');
  const output = new DecodedOutput(decodedFormat(options.format), { key: !valuesOnly, value: !keysOnly, place: keysOnly === undefined && valuesOnly === undefined }, limit);
  try {
    for (const path of paths) await withDecodedEntries(path, { ...options, allVersions, reverse }, (shown, entries) => output.print(shown, entries));
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

/** Prints every version of a decoded key. A key is a text, or JSON for a key of another type. */
export async function findDecoded(paths: readonly string[], key: string, options: KeyOptions): Promise<void> {
  mustNotBeHex(options);
  const output = new DecodedOutput(decodedFormat(options.format ?? 'tsv'), { key: true, value: true, place: true });
  let places = 0;
  async function* matching(entries: AsyncIterable<ReadEntry>): AsyncGenerator<ReadEntry> {
    for await (const entry of entries) {
      if (textOf(entry.key) !== key) continue;
      places++;
      yield entry;
    }
  }
  try {
    for (const path of paths) await withDecodedEntries(path, { ...options, allVersions: true }, (shown, entries) => output.print(shown, matching(entries)));
  } finally {
    await output.flush();
  }
  if (places === 0) noteMissing(key);
}

/** Prints the entries of decoded keys as {@link findDecoded} does, in the order of the keys. The first input that has a key counts. */
export async function getDecoded(paths: readonly string[], keys: readonly string[], options: KeyOptions): Promise<void> {
  mustNotBeHex(options);
  const isPlain = !options.allVersions && options.format === undefined;
  const columns: DecodedColumns = isPlain ? { key: false, value: true, place: false } : { key: true, value: true, place: true };
  const output = new DecodedOutput(decodedFormat(options.format ?? 'tsv'), columns);
  const found = new Map<string, { readonly path: string; readonly entries: ReadEntry[] }>();
  try {
    for (const path of paths) {
      const wanted = new Set(keys.filter((key) => !found.has(key)));
      if (wanted.size === 0) break;
      await withDecodedEntries(path, options, async (shown, entries) => {
        for await (const entry of entries) {
          const key = textOf(entry.key);
          if (!wanted.has(key)) continue;
          const before = found.get(key);
          if (before === undefined) found.set(key, { path: shown, entries: [entry] });
          else before.entries.push(entry);
        }
      });
    }
  } finally {
    // Values that were found before a failure are printed.
    for (const key of keys) {
      const one = found.get(key);
      if (one !== undefined) await output.print(one.path, one.entries);
    }
    await output.flush();
  }
  for (const key of keys) if (!found.has(key)) noteMissing(key);
}

function mustNotBeHex({ hex }: KeyOptions): void {
  if (hex) throw new Failure('--decode takes keys as text: omit --hex');
}

function noteMissing(key: string): void {
  process.exitCode = EXIT.no;
  note(`${key === '' ? '""' : key}: not found`);
}

function decodedFormat(format: FormatName): DecodedFormat {
  if (!(DECODED_FORMATS as readonly string[]).includes(format)) throw new Failure(`--decode prints ${DECODED_FORMATS.join(' or ')}: use one of them instead of --format ${format}`);
  return format as DecodedFormat;
}
