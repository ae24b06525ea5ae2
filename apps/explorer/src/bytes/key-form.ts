/** Ways to show bytes to people. */
import { indexedDbKey } from './indexeddb-key.js';
import { minecraftKey } from './minecraft-key.js';

export const KEY_FORMS = ['text', 'hex', 'numbers', 'indexeddb', 'minecraft'] as const;
export type KeyForm = (typeof KEY_FORMS)[number];

export const KEY_FORM_TITLES: Record<KeyForm, string> = {
  text: 'Text',
  hex: 'Hex',
  numbers: 'Numbers',
  indexeddb: 'IndexedDB',
  minecraft: 'Minecraft',
};

/** A piece of text, or of bytes that are no text and are written as escapes. */
export interface TextPart {
  readonly text: string;
  readonly isEscaped: boolean;
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Control characters, those that turn the direction of text, and others that cannot be seen. */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
const INVISIBLE = /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]/u;

/** How long the UTF-8 character that starts with `byte` is; 0 for a byte that starts none. */
function characterLength(byte: number): number {
  if (byte < 0x80) return 1;
  if (byte < 0xc2) return 0;
  if (byte < 0xe0) return 2;
  if (byte < 0xf0) return 3;
  return byte < 0xf5 ? 4 : 0;
}

/** Bytes as UTF-8 where they are, escapes like `\x00` where they are not. */
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
    if (character !== undefined && !INVISIBLE.test(character)) {
      if (escaped !== '') flush();
      text += character;
      i += length;
    } else {
      if (text !== '') flush();
      escaped += `\\x${bytes[i]!.toString(16).padStart(2, '0')}`;
      i++;
    }
  }
  flush();
  return parts;
}

export function hexOf(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += (i > 0 ? ' ' : '') + bytes[i]!.toString(16).padStart(2, '0');
  return text;
}

/** Bytes as the numbers that programs store: whole ones both ways round, otherwise byte by byte. */
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

/** The bytes in a form that was chosen; as text where they are not of that form. */
export function partsOf(bytes: Uint8Array, form: KeyForm): TextPart[] {
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

/** The bytes that a reader typed: text, or hexadecimal digits; undefined for digits that are none. */
export function typedBytes(text: string, form: 'text' | 'hex'): Uint8Array | undefined {
  if (form === 'text') return new TextEncoder().encode(text);
  const digits = text.replace(/[\s,]|0x/g, '');
  if (!/^([0-9a-f]{2})*$/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
