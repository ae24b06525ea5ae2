/**
 * One key per line, with its bytes unchanged; its value is the number of the line, from 1, in decimal.
 */
import { endsInCarriageReturn, LF } from '@bloom/report';
import { keyText } from '../outputs/key-text.js';
import { LineError, OutputError } from './entry.js';
import type { FieldDecoder } from './entry-batch.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { type LineDecoder, markBeforeMark } from './lines.js';

export const words = {
  help: 'one key per line, bytes as they are; as input, the values are the numbers of the lines',
  printer,
} satisfies Format;

/** @param decodeField decodes the word in a line. */
export function wordDecoder(decodeField: FieldDecoder): LineDecoder {
  return (line, start, end, batch, number) => {
    // An empty line is far more likely a mistake than an empty word.
    if (start === end) throw new LineError('empty, but must be a word');
    decodeField(line, start, end, batch);
    const keyEnd = batch.end;
    const digits = String(number);
    batch.reserve(digits.length);
    for (let i = 0; i < digits.length; i++) batch.bytes[batch.end++] = digits.charCodeAt(i);
    batch.push(keyEnd, batch.end, number);
  };
}

function printer({ hex }: Columns): Printer {
  const mark = markBeforeMark();
  return {
    print(key, _value, out) {
      if (key.length === 0) throw new OutputError('the empty key would be an empty line');
      if (hex) {
        out.hex(key);
      } else {
        mark(key, out);
        if (!out.bytesWithout(key, LF, LF) || endsInCarriageReturn(key)) {
          throw new OutputError(`key ${keyText(key)} has a line break in it`);
        }
      }
      out.byte(LF);
    },
  };
}
