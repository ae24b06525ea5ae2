/** What reads each format. */
import { base64Field } from './base64.js';
import { CsvDecoder } from './csv.js';
import type { DecoderState, EntryDecoder } from './entry.js';
import type { FormatName } from './format.js';
import { hexField } from './hex.js';
import { decodeJsonLine } from './jsonl.js';
import { KvDecoder } from './kv.js';
import { type LineDecoder, LinesDecoder } from './lines.js';
import { columnDecoder, plainField } from './tab-columns.js';
import { decodeTsvLine } from './tsv.js';
import { wordDecoder } from './words.js';

/** How an input is written, in a form that can be handed to another thread. */
export interface InputForm {
  readonly format: FormatName;
  /** Whether keys and values are in hexadecimal, in a format that does not say so itself. */
  readonly hex: boolean;
}

const lineDecoders = {
  tsv: ({ hex }) => (hex ? columnDecoder(hexField) : decodeTsvLine),
  jsonl: () => decodeJsonLine,
  hex: () => columnDecoder(hexField),
  base64: () => columnDecoder(base64Field),
  raw: ({ hex }) => columnDecoder(hex ? hexField : plainField),
  words: ({ hex }) => wordDecoder(hex ? hexField : plainField),
} satisfies Partial<Record<FormatName, (form: InputForm) => LineDecoder>>;

/** A decoder. @param state where another decoder of the same form stopped; undefined at the start of an input. */
export function decoderOf(form: InputForm, state?: DecoderState): EntryDecoder {
  const { format } = form;
  if (format === 'kv') return new KvDecoder(state);
  if (format === 'csv') return new CsvDecoder(state);
  return new LinesDecoder(lineDecoders[format](form), state);
}
