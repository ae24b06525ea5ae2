import type { ByteBuffer } from './byte-buffer.js';
import type { EntryDecoder } from './entry.js';
import { decodeJsonLine, encodeHexJson, encodeJson } from './jsonl.js';
import { encodeKv, KvDecoder } from './kv.js';
import { LinesDecoder } from './lines.js';
import { decodeTsvLine, encodeHexTsv, encodeTsv } from './tsv.js';
import { decodeWordLine, encodeHexWord, encodeWord } from './words.js';

/** Appends an entry. @throws OutputError when the entry could not be read back. */
export type Encode = (key: Uint8Array, value: Uint8Array, out: ByteBuffer) => void;

interface Format {
  readonly decoder: () => EntryDecoder;
  readonly encode: Encode;
  /** `encode` with --hex, which the binary format has no use for. */
  readonly encodeHex: Encode;
}

export type FormatName = 'tsv' | 'words' | 'jsonl' | 'kv';

/** The formats of versions of keys: kv has no place for a sequence. */
export type VersionFormat = Exclude<FormatName, 'kv'>;

export const formats: Readonly<Record<FormatName, Format>> = {
  tsv: { decoder: () => new LinesDecoder(decodeTsvLine), encode: encodeTsv, encodeHex: encodeHexTsv },
  words: { decoder: () => new LinesDecoder(decodeWordLine), encode: encodeWord, encodeHex: encodeHexWord },
  jsonl: { decoder: () => new LinesDecoder(decodeJsonLine), encode: encodeJson, encodeHex: encodeHexJson },
  kv: { decoder: () => new KvDecoder(), encode: encodeKv, encodeHex: encodeKv },
};

export const formatNames = Object.keys(formats) as readonly FormatName[];

/** For the help of commands that take --format. @param words what a line of this format is. */
export function formatHelp(words: string): string {
  return `
Formats:
  tsv    key TAB value, one entry per line
  words  ${words}
  jsonl  {"key":"…","value":"…"}, one entry per line, in UTF-8
  kv     any bytes: key length (u32 LE), key, value length (u32 LE), value, …
`;
}
