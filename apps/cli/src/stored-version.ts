/** Prints the versions of keys that a database's folder stores, each in a log or a table. */
import type { StoredEntry, StoredVersion } from '@bloom/leveldb';
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
export function encodeStoredVersion(version: StoredEntry | StoredVersion, format: VersionFormat, hex: boolean, out: ByteBuffer): void {
  const { key, sequence, kind, file, value } = version;
  switch (format) {
    case 'jsonl': {
      const stored = { sequence: String(sequence), type: kind, file };
      if (hex) {
        out.utf8(`${terminalJson({ keyHex: hexOf(key), ...stored, valueHex: hexOf(value) })}\n`);
        return;
      }
      const texts = textsOf(key, value);
      out.utf8(`${terminalJson({ key: texts.key, ...stored, value: texts.value })}\n`);
      return;
    }
    case 'tsv':
    case 'words': {
      const fits = hex || (!key.includes(TAB) && fitsOnLine(key) && (format === 'words' || fitsOnLine(value)));
      if (!fits) throw new OutputError(`key ${keyText(key)} or its value has a TAB or a line break in it`);
      putBytes(key, hex, out);
      if (format === 'tsv') {
        out.utf8(`\t${sequence}\t${kind}\t${file}\t`);
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
