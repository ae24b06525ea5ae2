/** The tags of V8's values: `v8-value.ts` says what follows each. */

const tag = (character: string): number => character.charCodeAt(0);

export const PADDING = 0;
export const OBJECT_COUNT = tag('?');
export const HOLE = tag('-');
export const UNDEFINED = tag('_');
export const NULL = tag('0');
export const TRUE = tag('T');
export const FALSE = tag('F');
export const INT32 = tag('I');
export const UINT32 = tag('U');
export const DOUBLE = tag('N');
export const BIGINT = tag('Z');
export const UTF8_STRING = tag('S');
export const ONE_BYTE_STRING = tag('"');
export const TWO_BYTE_STRING = tag('c');
export const REFERENCE = tag('^');
export const OBJECT = tag('o');
export const END_OBJECT = tag('{');
export const SPARSE_ARRAY = tag('a');
export const END_SPARSE_ARRAY = tag('@');
export const DENSE_ARRAY = tag('A');
export const END_DENSE_ARRAY = tag('$');
export const DATE = tag('D');
export const TRUE_OBJECT = tag('y');
export const FALSE_OBJECT = tag('x');
export const NUMBER_OBJECT = tag('n');
export const BIGINT_OBJECT = tag('z');
export const STRING_OBJECT = tag('s');
export const REGEXP = tag('R');
export const MAP = tag(';');
export const END_MAP = tag(':');
export const SET = tag("'");
export const END_SET = tag(',');
export const ARRAY_BUFFER = tag('B');
export const RESIZABLE_ARRAY_BUFFER = tag('~');
/** An immutable one, which V8 makes with `--js-immutable-arraybuffer`. */
export const IMMUTABLE_ARRAY_BUFFER = tag('C');
export const ARRAY_BUFFER_VIEW = tag('V');
export const ERROR = tag('r');
export const HOST_OBJECT = tag('\\');
