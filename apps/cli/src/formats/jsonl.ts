/**
 * One JSON object per line, `{"key":"…","value":"…"}`: both strings, stored as UTF-8. Bytes that are not UTF-8 are in `keyHex` and
 * `valueHex` instead, in hexadecimal. `keyBase64` and `valueBase64` are read too. Other members are ignored, but an object whose
 * `type` says that it is a deletion is rejected.
 */
import { LineError, mustBeNoDeletion } from './entry.js';
import { base64Bytes } from './base64.js';
import type { EntryBatch } from './entry-batch.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { terminalJson } from '../outputs/terminal-text.js';
import { putVersion } from './version-input.js';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const jsonl = {
  help: '{"key":"…","value":"…"}, one object per line; keyHex and valueHex for what is not UTF-8',
  printer,
} satisfies Format;

/** A line of up to this many bytes may have any number of values. */
const SMALL_LINE_BYTES = 2 ** 20;
/** The most values in a longer line, for which `JSON.parse` could take two dozen times its bytes. */
const MAX_VALUES = 1_000_000;

const VALUE_NAMES = ['value', 'valueHex', 'valueBase64'] as const;

export function decodeJsonLine(bytes: Uint8Array, start: number, end: number, batch: EntryBatch, number: number): void {
  const json = objectIn(bytes, start, end);
  mustBeNoDeletion(json.type, json.sequence, VALUE_NAMES.some((name) => (json[name] ?? '') !== ''));
  const key = decodeMember(json, 'key');
  batch.add(key, decodeMember(json, 'value'), number);
}

/** Reads a line that may have a type and a sequence. Without a type it is a value. A deletion needs no value. */
export function decodeJsonVersion(bytes: Uint8Array, start: number, end: number, batch: EntryBatch, number: number): void {
  const json = objectIn(bytes, start, end);
  const { type = 'value', sequence } = json;
  const key = decodeMember(json, 'key');
  const isWithoutValue = type === 'deletion' && !VALUE_NAMES.some((name) => Object.hasOwn(json, name));
  const value = isWithoutValue ? new Uint8Array(0) : decodeMember(json, 'value');
  batch.put(key);
  putVersion(type, sequence, batch);
  const keyEnd = batch.end;
  batch.put(value);
  batch.push(keyEnd, batch.end, number);
}

/** The object of a line. Inherited members are undefined. */
function objectIn(bytes: Uint8Array, start: number, end: number): Partial<Record<string, unknown>> {
  const line = bytes.subarray(start, end);
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
  return json;
}

function printer({ key: hasKey, value: hasValue, facts: names, hex }: Columns): Printer {
  return {
    print(key, value, out, facts) {
      const line: Record<string, string> = {};
      if (hasKey) putMember(line, 'key', key, hex);
      for (const [i, fact] of facts.entries()) line[names[i]!] = fact;
      if (hasValue) putMember(line, 'value', value, hex);
      out.utf8(`${terminalJson(line)}\n`);
    },
  };
}

function putMember(line: Record<string, string>, name: 'key' | 'value', bytes: Uint8Array, isHex: boolean): void {
  const text = isHex ? undefined : decodeUtf8(bytes);
  if (text === undefined) line[`${name}Hex`] = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
  else line[name] = text;
}

/** The bytes of a key or a value, which is a text, or in hexadecimal or base64 under the name for that. */
function decodeMember(json: object, name: 'key' | 'value'): Uint8Array {
  const names = [name, `${name}Hex`, `${name}Base64`];
  const given = names.filter((member) => Object.hasOwn(json, member));
  const [member] = given;
  if (member === undefined) throw new LineError(`no "${name}"`);
  if (given.length > 1) throw new LineError(`both "${member}" and "${given[1]!}"`);
  const text: unknown = (json as Record<string, unknown>)[member];
  if (typeof text !== 'string') throw new LineError(`"${member}" is not a string`);
  if (member === name) {
    if (/\p{Surrogate}/u.test(text)) throw new LineError(`"${name}" has half a surrogate pair, which UTF-8 cannot represent`);
    return Buffer.from(text, 'utf8');
  }
  const bytes = member.endsWith('Hex') ? hexTextBytes(text) : base64Bytes(text);
  if (bytes === undefined) throw new LineError(`"${member}" is not ${member.endsWith('Hex') ? 'hexadecimal' : 'base64'}`);
  return bytes;
}

/** The bytes of pairs of hexadecimal digits; undefined for any other text. */
function hexTextBytes(text: string): Uint8Array | undefined {
  // Node takes a character for the digit that has the same lowest byte.
  return text.length % 2 === 0 && !/[^0-9a-fA-F]/.test(text) ? Buffer.from(text, 'hex') : undefined;
}

/** Counts the characters that start or separate values. The bytes need not be UTF-8. */
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
