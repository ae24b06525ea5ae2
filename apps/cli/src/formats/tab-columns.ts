import { LF } from '@bloom/report';
import type { ByteBuffer } from './byte-buffer.js';
import { LineError } from './entry.js';
import type { FieldDecoder } from './entry-batch.js';
import type { Columns, Printer } from './format-contract.js';
import type { LineDecoder } from './lines.js';

const TAB = 9;

/** Appends the bytes of a key or a value as text without TAB and LF. */
type PrintCell = (bytes: Uint8Array, out: ByteBuffer) => void;

/** Prints entries as lines whose columns are separated by TABs. */
export function tabPrinter({ key: hasKey, value: hasValue, facts: { length: factCount } }: Columns, cell: PrintCell): Printer {
  if (hasKey && hasValue && factCount === 0) {
    return {
      print(key, value, out) {
        cell(key, out);
        out.byte(TAB);
        cell(value, out);
        out.byte(LF);
      },
    };
  }
  return {
    print(key, value, out, facts) {
      let isFirst = true;
      const separate = (): void => {
        if (!isFirst) out.byte(TAB);
        isFirst = false;
      };
      if (hasKey) {
        separate();
        cell(key, out);
      }
      for (const fact of facts) {
        separate();
        if (/[\p{Cc}\\]/u.test(fact)) out.escaped(Buffer.from(fact, 'utf8'));
        else out.utf8(fact);
      }
      if (hasValue) {
        separate();
        cell(value, out);
      }
      out.byte(LF);
    },
  };
}

/** Reads a column whose bytes are unchanged. */
export const plainField: FieldDecoder = (line, start, end, batch) => batch.put(line, start, end);

/** Reads lines of a key and a value. The first TAB is the separator. */
export function columnDecoder(decodeField: FieldDecoder): LineDecoder {
  return (line, start, end, batch, number) => {
    const tab = line.indexOf(TAB, start);
    if (tab < 0 || tab >= end) throw new LineError('no TAB between key and value');
    decodeField(line, start, tab, batch);
    const keyEnd = batch.end;
    decodeField(line, tab + 1, end, batch);
    batch.push(keyEnd, batch.end, number);
  };
}
