interface Host {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly setTimeout: (callback: () => void, milliseconds: number) => unknown;
}

// Taken at load: test suites replace the host's functions with fake ones.
export const { setImmediate, setTimeout } = globalThis as unknown as Host;
