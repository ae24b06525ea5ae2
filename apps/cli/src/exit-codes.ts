/** The exit codes of `bloom`. */
export const EXIT = {
  ok: 0,
  /** No error, but the answer is no: a key is absent, a table is damaged, something could not be saved. */
  no: 1,
  /** The work was not done: bad input, a bad command line, or a file that cannot be read or written. */
  failure: 2,
} as const;

/** The meanings of the exit codes, for the help. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.ok, 'success: found, or nothing wrong'],
  [EXIT.no, 'an absent key, a difference, damage, a loss, or a lost race to publish'],
  [EXIT.failure, 'failure: bad usage, bad input, or a file that cannot be read or written'],
];
