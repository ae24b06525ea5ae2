/** Prints versions of keys: of one table of a database, or of a folder, each with the log or table that stores it. */
import type { StoredEntry } from '@bloom/leveldb';
import { LF } from '@bloom/report';
import type { DatabaseEntry } from '@bloom/sstable/database';
import type { ByteBuffer } from './byte-buffer.js';
import { OutputError } from './entry.js';
import type { VersionFormat } from './format.js';
import { hexOf, textsOf } from './jsonl.js';
import { keyText } from './key-text.js';
import { fitsOnLine } from './lines.js';
import { terminalJson } from './terminal-text.js';

const TAB = 9;

/** Appends a version in `format`. @throws OutputError when the format cannot represent it. */
export function encodeVersion(version: DatabaseEntry | StoredEntry, format: VersionFormat, hex: boolean, out: ByteBuffer): void {
  const { key, sequence, value } = version;
  const kind = String(version.kind);
  const file = 'file' in version ? version.file : undefined;
  switch (format) {
    case 'jsonl': {
      const stored = { sequence: String(sequence), type: kind, ...(file !== undefined && { file }) };
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
        out.utf8(file === undefined ? `\t${sequence}\t${kind}\t` : `\t${sequence}\t${kind}\t${file}\t`);
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
