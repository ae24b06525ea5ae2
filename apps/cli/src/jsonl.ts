/**
 * One JSON object per line, `{"key":"…","value":"…"}`: both strings, stored as UTF-8. Other members are ignored.
 */
import type { ByteBuffer } from './byte-buffer.js';
import { type Entry, OutputError } from './entry.js';
import { keyText } from './key-text.js';
import { LineError } from './lines.js';
import { terminalJson } from './terminal-text.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A line of up to this many bytes may have any number of values. */
const SMALL_LINE_BYTES = 2 ** 20;
/** The most values in a longer line, for which `JSON.parse` could take two dozen times its bytes. */
const MAX_VALUES = 1_000_000;

export function decodeJsonLine(line: Uint8Array): Entry {
  if (line.length > SMALL_LINE_BYTES) mustHaveFewValues(line);
  const text = decodeUtf8(line);
  if (text === undefined) throw new LineError('not UTF-8');
  if (text.trim() === '') throw new LineError('empty, but must be a JSON object');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new LineError('not JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new LineError('not a JSON object');
  return [encodeMember(json, 'key'), encodeMember(json, 'value')];
}

export function encodeJson(key: Uint8Array, value: Uint8Array, out: ByteBuffer): void {
  out.utf8(`${terminalJson(textsOf(key, value))}\n`);
}

/** The same with key and value in hexadecimal, which can represent any bytes. */
export function encodeHexJson(key: Uint8Array, value: Uint8Array, out: ByteBuffer): void {
  out.utf8(`${terminalJson({ keyHex: hexOf(key), valueHex: hexOf(value) })}\n`);
}

/** Bytes as the string of a member whose name ends in `Hex`. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

/** Key and value as the strings of a JSON object. @throws OutputError when one of them is not UTF-8. */
export function textsOf(key: Uint8Array, value: Uint8Array): { key: string; value: string } {
  const keyString = decodeUtf8(key);
  if (keyString === undefined) throw new OutputError(`key ${keyText(key)} is not UTF-8`);
  const valueString = decodeUtf8(value);
  if (valueString === undefined) throw new OutputError(`the value of key ${keyText(key)} is not UTF-8`);
  return { key: keyString, value: valueString };
}

function encodeMember(json: object, name: 'key' | 'value'): Uint8Array {
  const text: unknown = Object.hasOwn(json, name) ? (json as Record<string, unknown>)[name] : undefined;
  if (text === undefined) throw new LineError(`no "${name}"`);
  if (typeof text !== 'string') throw new LineError(`"${name}" is not a string`);
  if (/\p{Surrogate}/u.test(text)) throw new LineError(`"${name}" has half a surrogate pair, which UTF-8 cannot represent`);
  return Buffer.from(text, 'utf8');
}

/** Counts characters that start or separate values, in bytes that may not even be UTF-8. */
function mustHaveFewValues(line: Uint8Array): void {
  const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{', 'latin1');
  let values = 0;
  let isInString = false;
  for (let i = 0; i < line.length; i++) {
    const byte = line[i];
    if (byte === quote) isInString = !isInString;
    else if (isInString) i += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === bracket || byte === brace) values++;
  }
  if (values > MAX_VALUES) throw new LineError(`more than ${MAX_VALUES} values, but only "key" and "value" are needed`);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
