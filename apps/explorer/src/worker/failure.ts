import { CorruptionError, UnsupportedError } from '@bloom/bytes';

/** An error in the form in which a worker sends it and the page shows it. */
export interface FailureFacts {
  readonly name: string;
  readonly message: string;
  readonly code?: string | undefined;
  readonly structure?: string | undefined;
  readonly offset?: number | undefined;
  readonly file?: string | undefined;
}

export function failureFacts(error: unknown): FailureFacts {
  if (error instanceof CallError) return error.facts;
  if (error instanceof CorruptionError || error instanceof UnsupportedError) {
    const { name, problem, code, structure, offset, file } = error;
    return { name, message: problem, code, structure, offset, file };
  }
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message } = error;
  return { name, message, ...('code' in error && typeof error.code === 'string' && { code: error.code }) };
}

/** An error that a worker's method threw. */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly facts: FailureFacts;

  constructor(facts: FailureFacts) {
    super(facts.message);
    this.facts = facts;
  }

  get isCancelled(): boolean {
    return this.facts.name === 'AbortError';
  }
}
