import { CorruptionError, UnsupportedError } from '@bloom/bytes';

/** Whether an error is about the bytes of a file, and not about reading them. */
export function isFormatError(error: unknown): error is CorruptionError | UnsupportedError {
  return error instanceof CorruptionError || error instanceof UnsupportedError;
}
