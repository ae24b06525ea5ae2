/**
 * What a person reads at a terminal, out of names, keys and messages that anybody may have chosen: no control
 * character, line break or change of writing direction of theirs gets through.
 */

/** Controls, formats (which turn text around or hide it), line and paragraph separators, halves of surrogate pairs. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
/** The same, but for line breaks and TABs. */
const UNSAFE_IN_LINES = /[^\P{Cc}\t\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Characters of a line: a path has at most 4,096 bytes, and what is wrong with it needs some more. */
const MAX_LINE_LENGTH = 6000;

/** `text` as one line, with escapes such as `\x1b` and `\n` for what is unsafe; the middle of a very long one is left out. */
export function terminalLine(text: string): string {
  const half = MAX_LINE_LENGTH / 2;
  const kept = text.length <= MAX_LINE_LENGTH ? text : `${text.slice(0, half)}…${text.slice(-half)}`;
  return kept.replace(UNSAFE, escaped);
}

/** UTF-8 of any number of lines, made safe; line breaks and TABs stay. */
export function terminalLines(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8').replace(UNSAFE_IN_LINES, escaped);
}

/**
 * `value` as JSON that is safe on a terminal as well: what `JSON.stringify` leaves as it is, and is unsafe, becomes
 * `\u` escapes, which mean the same.
 */
export function terminalJson(value: unknown, space?: number): string {
  return JSON.stringify(value, undefined, space).replace(UNSAFE_IN_LINES, (character) =>
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
