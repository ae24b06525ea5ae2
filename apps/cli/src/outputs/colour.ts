import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Whether text for a stream is coloured: on terminals unless NO_COLOR is set, elsewhere only if FORCE_COLOR is set. */
export function hasColour({ isTTY }: { readonly isTTY?: boolean }): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTTY === true && !NO_COLOR && TERM !== 'dumb';
}

/** The text in a style, if the stream has colours. */
export function styled(style: Style, text: string, stream: { readonly isTTY?: boolean }): string {
  return hasColour(stream) ? styleText(style, text) : text;
}
