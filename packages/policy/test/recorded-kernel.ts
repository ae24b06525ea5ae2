import { vi } from 'vitest';

/** The kernels that were made, and every call of one of their exports, in order. */
export interface KernelRecord {
  kernels: number;
  readonly calls: { readonly name: string; readonly args: readonly number[] }[];
}

type Export = (...args: number[]) => unknown;

interface Host {
  readonly Module: unknown;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** Calls `use`, and records all calls, then and later, of every kernel that is made meanwhile. */
export function recordKernels<T>(use: (record: KernelRecord) => T): T {
  const record: KernelRecord = { kernels: 0, calls: [] };
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Host }).WebAssembly;
  const recorded = (name: string, call: Export): Export => (...args) => {
    record.calls.push({ name, args });
    return call(...args);
  };
  class RecordedInstance {
    readonly exports: object;

    constructor(module: object, imports: object) {
      record.kernels++;
      const entries = Object.entries(new Instance(module, imports).exports);
      this.exports = Object.fromEntries(
        entries.map(([name, value]) => [name, typeof value === 'function' ? recorded(name, value as Export) : value]),
      );
    }
  }
  vi.stubGlobal('WebAssembly', { Module, Instance: RecordedInstance });
  try {
    return use(record);
  } finally {
    vi.unstubAllGlobals();
  }
}
