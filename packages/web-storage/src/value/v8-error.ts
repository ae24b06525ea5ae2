/**
 * Errors as V8 serializes them, after the tag `r`.
 *
 *     kind                E, R, F, S, T or U; without it, it is an Error
 *     m, string           message
 *     s, string           stack
 *     c, value            cause
 *     .                   the end
 *
 * The parts have had different orders.
 */
import type { ByteReader } from './byte-reader.js';

const KINDS: Readonly<Record<string, ErrorConstructor>> = {
  E: EvalError,
  R: RangeError,
  F: ReferenceError,
  S: SyntaxError,
  T: TypeError,
  U: URIError,
};

/** What is needed of the reader of the value that has an error. */
export interface ErrorReader extends ByteReader {
  /** False where the value ends within the cause. */
  readonly isComplete: boolean;
  value(): unknown;
  string(): string;
}

/**
 * Reads an error, of which few frames may be on the stack: errors are nested by their causes.
 *
 * @param objects takes the error before its parts are read, because its cause can refer to it.
 * @throws WebStorageError BLOOM_BAD_VALUE.
 */
export function readError(reader: ErrorReader, objects: (object | undefined)[]): Error {
  let part = readTag(reader);
  const Class = KINDS[part];
  if (Class !== undefined) part = readTag(reader);
  const error = new (Class ?? Error)();
  objects.push(error);
  let stack: string | undefined;
  for (; part !== '.'; part = readTag(reader)) {
    if (part === 'm') define(error, 'message', reader.string());
    else if (part === 's') stack = reader.string();
    else if (part === 'c') {
      define(error, 'cause', reader.value());
      if (!reader.isComplete) break;
    } else throw reader.bad(`unknown part of an error ${JSON.stringify(part)}`);
  }
  define(error, 'stack', stack);
  return error;
}

function readTag(reader: ByteReader): string {
  return String.fromCharCode(reader.varint32());
}

/** Defines a property as those of an error are: not enumerable. */
function define(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, writable: true, enumerable: false, configurable: true });
}
