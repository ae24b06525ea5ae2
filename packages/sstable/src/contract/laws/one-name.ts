import type { LawRun } from '../law-run.js';

/** Law 12: the name is a non-empty text. */
export function hasName(run: LawRun): void {
  const name: unknown = run.comparator.name;
  if (typeof name !== 'string' || name === '') run.fail('name must be a string, and not empty');
  if (/\p{Surrogate}/u.test(name)) run.fail(`name is ${JSON.stringify(name)}, which has half of a character: it is stored as UTF-8`);
}
