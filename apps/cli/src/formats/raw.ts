/** One entry per line: the key, a TAB, the value, with all bytes unchanged. The first TAB in the line is the separator. */
import { endsInCarriageReturn, LF } from '@bloom/report';
import type { ByteBuffer } from './byte-buffer.js';
import { OutputError } from './entry.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { keyText } from '../outputs/key-text.js';
import { markBeforeMark } from './lines.js';
import { putHex } from './hex.js';
import { tabPrinter } from './tab-columns.js';

const TAB = 9;

export const raw = {
  help: 'key TAB value, one entry per line, bytes as they are: no line breaks, no TAB in keys',
  printer,
} satisfies Format;

function printer({ key: hasKey, value: hasValue, facts, hex }: Columns): Printer {
  if (hex) return tabPrinter({ key: hasKey, value: hasValue, facts, hex }, putHex);
  const mark = markBeforeMark();
  return {
    print(key, value, out, texts) {
      mark(hasKey ? key : value, out);
      if (hasKey && !(out.bytesWithout(key, TAB, LF) && (hasValue || texts.length > 0 || !endsInCarriageReturn(key)))) {
        throw new OutputError(`key ${keyText(key)} has a TAB or a line break in it`);
      }
      if (texts.length > 0) putTexts(texts, hasKey, out);
      if (hasValue) {
        if (hasKey || texts.length > 0) out.byte(TAB);
        if (!out.bytesWithout(value, LF, LF) || endsInCarriageReturn(value)) {
          throw new OutputError(`the value of key ${keyText(key)} has a line break in it`);
        }
      }
      out.byte(LF);
    },
  };
}

function putTexts(texts: readonly string[], isAfterKey: boolean, out: ByteBuffer): void {
  out.utf8(`${isAfterKey ? '\t' : ''}${texts.join('\t')}`);
}
