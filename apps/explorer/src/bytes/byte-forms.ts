/** Ways to show bytes as text. */
import { hexBytes, hexDigits, hexNumber, minecraftKey, typedMinecraftKey } from '@bloom/report';
import { indexedDbKey } from '@bloom/web-storage';
import { typedIndexedDbKey } from './indexeddb-key-text.js';
import type { ByteForm, Typing } from './byte-form-names.js';
import { INVISIBLE } from './quoted-text.js';

export { BYTE_FORMS, type ByteForm, type Typing } from './byte-form-names.js';

export const BYTE_FORM_TITLES: Record<ByteForm, string> = {
  text: 'Text',
  hex: 'Hex',
  numbers: 'Numbers',
  indexeddb: 'IndexedDB',
  minecraft: 'Minecraft',
};

/** The default form of a file's keys. */
export function usualByteForm({ isIndexedDb, isMinecraft }: { readonly isIndexedDb: boolean; readonly isMinecraft: boolean }): ByteForm {
  return isIndexedDb ? 'indexeddb' : isMinecraft ? 'minecraft' : 'text';
}

/** A piece of text, or of bytes that are not text and are shown as escapes. */
export interface TextPart {
  readonly text: string;
  readonly isEscaped: boolean;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** The length of the UTF-8 character that starts with `byte`; 0 if no character starts with it. */
function characterLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2) return 0;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf5 ? 4 : 0;
}

function isHexDigit(byte: number | undefined): boolean {
  return byte !== undefined && /[0-9a-f]/i.test(String.fromCharCode(byte));
}

/** Bytes as UTF-8 where they are valid, otherwise as escapes such as `\x00`. A space at the start or end is escaped too, because it would be invisible. */
export function textParts(bytes: Uint8Array): TextPart[] {
  const parts: TextPart[] = [];
  let text = '';
  let escaped = '';
  const flush = (): void => {
    if (text !== '') parts.push({ text, isEscaped: false });
    if (escaped !== '') parts.push({ text: escaped, isEscaped: true });
    text = escaped = '';
  };
  for (let i = 0; i < bytes.length; ) {
    const length = characterLength(bytes[i]!);
    let character: string | undefined;
    if (length > 0 && i + length <= bytes.length) {
      try {
        character = strictUtf8.decode(bytes.subarray(i, i + length));
      } catch {
        character = undefined;
      }
    }
    // A backslash that would look like an escape is escaped.
    const isAmbiguous = character === '\\' && bytes[i + 1] === 0x78 && isHexDigit(bytes[i + 2]) && isHexDigit(bytes[i + 3]);
    const isEdge = character === ' ' && (i === 0 || i === bytes.length - 1);
    if (character !== undefined && !isAmbiguous && !isEdge && !INVISIBLE.test(character)) {
      if (escaped !== '') flush();
      text += character;
      i += length;
    } else {
      if (text !== '') flush();
      escaped += `\\x${hexNumber(bytes[i]!)}`;
      i++;
    }
  }
  flush();
  return parts;
}

/** Pairs of hexadecimal digits, separated by spaces. */
export function hexOf(bytes: Uint8Array): string {
  return hexDigits(bytes, ' ');
}

/** Bytes as numbers: whole numbers in both byte orders, otherwise byte by byte. */
export function numbersOf(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (bytes.length) {
    case 0:
      return '';
    case 1:
      return String(bytes[0]);
    case 2:
      return bothWays(view.getUint16(0, true), view.getUint16(0));
    case 4:
      return bothWays(view.getUint32(0, true), view.getUint32(0));
    case 8:
      return `${bothWays(view.getBigUint64(0, true), view.getBigUint64(0))} · double ${view.getFloat64(0, true)}`;
    default:
      return Array.from(bytes, String).join(', ');
  }
}

function bothWays(little: number | bigint, big: number | bigint): string {
  return little === big ? String(little) : `${little} (little-endian) · ${big} (big-endian)`;
}

/** The bytes in the chosen form, or as text if they do not have that form. */
export function partsOf(bytes: Uint8Array, form: ByteForm): TextPart[] {
  switch (form) {
    case 'text':
      return textParts(bytes);
    case 'hex':
      return [{ text: hexOf(bytes), isEscaped: false }];
    case 'numbers':
      return [{ text: numbersOf(bytes), isEscaped: false }];
    case 'indexeddb': {
      const text = indexedDbKey(bytes);
      return text === undefined ? textParts(bytes) : [{ text, isEscaped: false }];
    }
    case 'minecraft': {
      const text = minecraftKey(bytes);
      return text === undefined ? textParts(bytes) : [{ text, isEscaped: false }];
    }
  }
}

/** The default way to type the keys of a database. */
export function usualTyping(facts: { readonly isIndexedDb: boolean; readonly isMinecraft: boolean }): Typing {
  const form = usualByteForm(facts);
  return form === 'numbers' ? 'text' : form;
}

/** The ways to type keys that are offered. */
export function typingOptions(facts: { readonly isIndexedDb: boolean; readonly isMinecraft: boolean }): readonly (readonly [Typing, string])[] {
  const usual = usualTyping(facts);
  const names: readonly Typing[] = usual === 'text' || usual === 'hex' ? ['text', 'hex'] : [usual, 'text', 'hex'];
  return names.map((name) => [name, BYTE_FORM_TITLES[name]]);
}

/** The bytes of typed text; undefined if the text does not have that form. In text, `\x00` means a byte, as it is shown. */
export function typedBytes(text: string, typing: Typing): Uint8Array | undefined {
  switch (typing) {
    case 'text':
      return textBytes(text);
    case 'hex':
      return hexBytes(text.replace(/[\s,]|0x/g, ''));
    case 'indexeddb':
      return text === '' ? new Uint8Array(0) : typedIndexedDbKey(text);
    case 'minecraft':
      return typedMinecraftKey(text) ?? textBytes(text);
  }
}

/** The messages for text that cannot be parsed. */
export const TYPING_HELP: Readonly<Record<Typing, string>> = {
  text: '',
  hex: 'Type pairs of hexadecimal digits, 0 to 9 and a to f.',
  indexeddb: 'Type keys of IndexedDB as they are shown, for example: database 1, store 2, record "abc"',
  minecraft: '',
};

/** Text from which {@link typedBytes} makes the same bytes, in the preferred form if possible, otherwise in hexadecimal. */
export function typedForm(bytes: Uint8Array, preferred: Typing): { readonly key: string; readonly typing: Typing } {
  for (const typing of [preferred, 'text'] as const) {
    const key = partsOf(bytes, typing).map(({ text }) => text).join('');
    const back = typedBytes(key, typing);
    if (back?.length === bytes.length && back.every((byte, i) => byte === bytes[i])) return { key, typing };
  }
  return { key: hexOf(bytes), typing: 'hex' };
}

function textBytes(text: string): Uint8Array {
  const encoder = new TextEncoder();
  const parts = text.split(/((?:\\x[0-9a-f]{2})+)/i).map((part, i) => (i % 2 === 0 ? encoder.encode(part) : hexBytes(part.replaceAll(/\\x/gi, ''))!));
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

/** Values of IndexedDB's metadata are often big-endian UTF-16: their text; undefined for other bytes. */
function utf16Text(bytes: Uint8Array): string | undefined {
  if (bytes.length < 4 || bytes.length % 2 === 1) return undefined;
  let text = '';
  for (let i = 0; i < bytes.length; i += 2) text += String.fromCharCode(bytes[i]! * 256 + bytes[i + 1]!);
  // At least half of the units must have a zero byte, as in text of Latin letters, because any bytes could be text of other scripts.
  const zeros = bytes.filter((byte, i) => i % 2 === 0 && byte === 0).length;
  return zeros * 4 >= bytes.length && !INVISIBLE.test(text) ? JSON.stringify(text) : undefined;
}

/** A value in the form that was chosen for keys. */
export function valueParts(bytes: Uint8Array, form: ByteForm): TextPart[] {
  if (form === 'indexeddb') {
    const text = utf16Text(bytes);
    if (text !== undefined) return [{ text, isEscaped: false }];
  }
  return form === 'indexeddb' || form === 'minecraft' ? textParts(bytes) : partsOf(bytes, form);
}
