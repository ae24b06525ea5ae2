/**
 * Makes names, keys and messages safe for a terminal, since anyone may have chosen them: control characters, line breaks
 * and changes of writing direction are escaped.
 */

/** Controls, formats (which can reverse or hide text), line and paragraph separators, halves of surrogate pairs. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** The same, without line breaks and TABs. */
const UNSAFE_IN_LINES = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The most characters in a line: a path has at most 4,096 bytes, and the message needs some more. */
const MAX_LINE_LENGTH = 6000;

/** `text` as one line, with escapes such as `\x1b` and `\n` for unsafe characters, and without the middle if it is very long. */
export function terminalLine(text: string): string {
  const half = MAX_LINE_LENGTH / 2;
  const kept = text.length <= MAX_LINE_LENGTH ? text : `${text.slice(0, half)}…${text.slice(-half)}`;
  return kept.replace(UNSAFE, escaped);
}

/** Makes any number of lines of UTF-8 safe; line breaks and TABs stay. */
export function terminalLines(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').replace(UNSAFE_IN_LINES, escaped);
}

/**
 * `value` as JSON that is also safe on a terminal: unsafe characters that `JSON.stringify` leaves unchanged become `\u`
 * escapes, which mean the same.
 */
export function terminalJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE_IN_LINES, (character) =>
    Array.from({ length: character.length }, (_, i) => unicodeEscape(character.charCodeAt(i))).join(''),
  );
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  if (code <= 0xff) return SHORT_ESCAPES[character] ?? `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? unicodeEscape(code) : `\\u{${code.toString(16)}}`;
}

function unicodeEscape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}
