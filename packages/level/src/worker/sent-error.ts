import { LevelError, type LevelErrorCode } from '../level-error.js';
import type { SentError } from './level-messages.js';

/** The depth of causes that are sent with an error. */
const MAX_CAUSES = 5;

/** An error in the form in which it is sent: browsers do not copy its code. */
export function sentErrorOf(error: unknown, depth = 0): SentError {
  const { name, message, code, cause } = (typeof error === 'object' && error !== null ? error : { message: String(error) }) as Partial<SentError>;
  return {
    name: name ?? 'Error',
    message: message ?? '',
    code: typeof code === 'string' ? code : undefined,
    cause: cause === undefined || depth === MAX_CAUSES ? undefined : sentErrorOf(cause, depth + 1),
  };
}

/** The error that was sent, with its code and that of its causes. */
export function receivedError({ name, message, code, cause }: SentError): Error {
  const options = cause && { cause: receivedError(cause) };
  if (name === 'LevelError' || name === 'AbortError') return new LevelError(code as LevelErrorCode, message, options);
  const error = name === 'TypeError' ? new TypeError(message, options) : name === 'RangeError' ? new RangeError(message, options) : new Error(message, options);
  error.name = name;
  return code === undefined ? error : Object.assign(error, { code });
}
