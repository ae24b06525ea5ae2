import { CorruptionError, UnsupportedError } from '@bloom/bytes';
import { count } from '@bloom/report';

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

/** The place of an error as the start of a sentence, such as `In the data block at 4,096 of 000005.ldb: `; empty if unknown. */
export function placeText({ structure, offset, file }: FailureFacts): string {
  if (structure === undefined) return '';
  if (structure === 'folder') return `In the folder${file === undefined ? '' : ` ${file}`}: `;
  return `In the ${structure}${offset === undefined ? '' : ` at ${count(offset)}`}${file === undefined ? '' : ` of ${file}`}: `;
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
