/** Prints the entries of a database's table: versions of user keys. */
import { type DatabaseEntry, DELETION, VALUE } from '@bloom/sstable/database';
import type { ByteBuffer } from './byte-buffer.js';
import { OutputError } from './entry.js';
import type { VersionFormat } from './format.js';
import { hexOf, textsOf } from './jsonl.js';
import { keyText } from './key-text.js';
import { fitsOnLine } from './lines.js';
import { terminalJson } from './terminal-text.js';

const TAB = 9;
const LF = 10;

/** Appends a version in `format`. @throws OutputError when the format cannot represent it. */
export function encodeVersion(entry: DatabaseEntry, format: VersionFormat, hex: boolean, out: ByteBuffer): void {
  const { userKey, sequence, type, value } = entry;
  switch (format) {
    case 'jsonl': {
      const version = { sequence: String(sequence), type: typeText(type) };
      if (hex) {
        out.utf8(`${terminalJson({ keyHex: hexOf(userKey), ...version, valueHex: hexOf(value) })}\n`);
        return;
      }
      const texts = textsOf(userKey, value);
      out.utf8(`${terminalJson({ key: texts.key, ...version, value: texts.value })}\n`);
      return;
    }
    case 'tsv':
    case 'words': {
      const fits = hex || (!userKey.includes(TAB) && fitsOnLine(userKey) && fitsOnLine(value));
      if (!fits) throw new OutputError(`key ${keyText(userKey)} or its value has a TAB or a line break in it`);
      putBytes(userKey, hex, out);
      if (format === 'tsv') {
        out.utf8(`\t${sequence}\t${typeText(type)}\t`);
        putBytes(value, hex, out);
      }
      out.byte(LF);
      return;
    }
  }
}

function putBytes(bytes: Uint8Array, hex: boolean, out: ByteBuffer): void {
  if (hex) out.hex(bytes);
  else out.bytes(bytes);
}

/** The name of an entry's type, or its number if LevelDB has no name for it. */
function typeText(type: number): string {
  if (type === VALUE) return 'value';
  return type === DELETION ? 'deletion' : String(type);
}
