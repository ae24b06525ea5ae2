/** What abstract-level's suite and tape use of Node's `process`, which bundlers for browsers leave out. */
export const process = {
  browser: true,
  env: {},
  cwd: () => '/',
  on: () => undefined,
  removeListener: () => undefined,
  nextTick: (call: (...values: unknown[]) => void, ...values: unknown[]) => queueMicrotask(() => call(...values)),
};
