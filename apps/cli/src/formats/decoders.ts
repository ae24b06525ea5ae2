/** The decoder of each format. */
import { base64Field } from './base64.js';
import { CsvDecoder } from './csv.js';
import type { DecoderState, EntryDecoder } from './entry.js';
import type { FormatName } from './format.js';
import { hexField } from './hex.js';
import { decodeJsonLine, decodeJsonVersion } from './jsonl.js';
import { KvDecoder } from './kv.js';
import { type LineDecoder, LinesDecoder } from './lines.js';
import { escapedField } from './escapes.js';
import { columnDecoder, plainField } from './tab-columns.js';
import { decodeTsvLine } from './tsv.js';
import { versionDecoder } from './version-input.js';
import { wordDecoder } from './words.js';

/** The format of an input, in a form that can be sent to another thread. */
export interface InputForm {
  readonly format: FormatName;
  /** Whether keys and values are in hexadecimal, for formats that do not show this themselves. */
  readonly hex: boolean;
  /** Whether entries are versions of keys, with types and sequences. A batch stores them under internal keys. */
  readonly versions?: boolean;
}

const lineDecoders = {
  tsv: ({ hex }) => (hex ? columnDecoder(hexField) : decodeTsvLine),
  jsonl: () => decodeJsonLine,
  hex: () => columnDecoder(hexField),
  base64: () => columnDecoder(base64Field),
  raw: ({ hex }) => columnDecoder(hex ? hexField : plainField),
  words: ({ hex }) => wordDecoder(hex ? hexField : plainField),
} satisfies Partial<Record<FormatName, (form: InputForm) => LineDecoder>>;

/** Only for formats that can represent versions. */
const versionDecoders: typeof lineDecoders = {
  ...lineDecoders,
  tsv: ({ hex }) => versionDecoder(hex ? hexField : escapedField),
  jsonl: () => decodeJsonVersion,
  hex: () => versionDecoder(hexField),
  base64: () => versionDecoder(base64Field),
  raw: () => versionDecoder(hexField),
};

/** A decoder. @param state where another decoder of the same form stopped; undefined at the start of an input. */
export function decoderOf(form: InputForm, state?: DecoderState): EntryDecoder {
  const { format, versions = false } = form;
  if (format === 'kv') return new KvDecoder(state, versions);
  if (format === 'csv') return new CsvDecoder(state, versions);
  const decodersOf: Readonly<Record<typeof format, (form: InputForm) => LineDecoder>> = versions ? versionDecoders : lineDecoders;
  return new LinesDecoder(decodersOf[format](form), state);
}
