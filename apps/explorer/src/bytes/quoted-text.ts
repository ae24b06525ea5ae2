/**
 * Control characters, characters that change the direction of text, and invisible characters. Those that join or separate letters or
 * emoji are invisible only without a neighbour beyond ASCII, and a no-break space only if it is alone.
 */
// eslint-disable-next-line no-control-regex -- control characters are what it looks for
export const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]|^\u00a0$|(?<![^\u0000-\u00a0\u200c\u200d])[\u200c\u200d](?![^\u0000-\u00a0\u200c\u200d])/u;

/** Those that `JSON.stringify` leaves as they are. */
const UNESCAPED = new RegExp(INVISIBLE.source, 'gu');

/** Text that is the same within quotes, as most is. Without this test, lines of short texts take twice as long. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Text in quotes, as in JSON, with escapes for everything that could not be seen. */
export function quotedText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return JSON.stringify(text).replaceAll(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The first characters of a text: `length`, or one less if that would split a pair of surrogates. */
export function startOf(text: string, length: number): string {
  return text.slice(0, (text.codePointAt(length - 1) ?? 0) > 0xffff ? length - 1 : length);
}

/** The first characters of a text as they are, or in quotes if the text is empty, starts with a quote, or something could not be seen, such as a space at its end. */
export function visibleText(text: string, length = Infinity): string {
  const start = startOf(text, length);
  return text === '' || text.startsWith('"') || text !== text.trim() || INVISIBLE.test(start) ? quotedText(start) : start;
}
