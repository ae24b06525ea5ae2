/** The part of the host's WebAssembly that is used, if the host has any. */
interface WebAssemblyHost {
  readonly WebAssembly?: {
    readonly Module: new (binary: Uint8Array) => object;
    readonly Instance: new (module: object, imports: object) => { readonly exports: object };
  };
}

/** What every WebAssembly kernel exports. The memory grows only when it is told to, so views of it stay valid. */
export interface Kernel {
  readonly memory: KernelMemory;
}

/** The part of `WebAssembly.Memory` that is used. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  /** Adds pages of 64 KiB. Views of the old buffer lose their bytes. @throws RangeError where there is no room. */
  grow(pages: number): number;
}

/** A page of WebAssembly's memory. */
const PAGE_BYTES = 2 ** 16;

/**
 * Grows a kernel's memory to `byteLength`, if it is smaller. It has a new `buffer` then.
 *
 * @returns false when that exceeds its limit, or the system has no more memory.
 */
export function growMemory(memory: KernelMemory, byteLength: number): boolean {
  const missing = byteLength - memory.buffer.byteLength;
  if (missing <= 0) return true;
  try {
    memory.grow(Math.ceil(missing / PAGE_BYTES));
    return true;
  } catch {
    return false;
  }
}

/**
 * Instantiates a WebAssembly module without imports, given in hexadecimal. Returns undefined where that is impossible: in a
 * host without WebAssembly or its SIMD, and under a Content-Security-Policy without `wasm-unsafe-eval`.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows what its module exports
export function instantiateKernel<T extends Kernel>(module: string): T | undefined {
  const { WebAssembly } = globalThis as WebAssemblyHost;
  if (WebAssembly === undefined) return undefined;
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(bytesOfDigits(module)), {}).exports as T;
  } catch {
    return undefined;
  }
}

/**
 * Decodes hexadecimal digits; a module has at least eight. Parsing four bytes at a time with `Number.parseInt` takes a tenth of the time of a
 * loop over digits, which V8 would still be interpreting.
 */
function bytesOfDigits(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < bytes.length; i += 4) {
    // The last four overlap those before them.
    const at = Math.min(i, bytes.length - 4);
    view.setUint32(at, Number.parseInt(digits.slice(at * 2, at * 2 + 8), 16));
  }
  return bytes;
}
