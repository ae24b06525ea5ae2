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
    return new WebAssembly.Instance(new WebAssembly.Module(bytesOf(module)), {}).exports as T;
  } catch {
    return undefined;
  }
}

/**
 * The bytes of hexadecimal digits in lower case. It mostly runs before V8 has optimized it, so it creates no strings and calls no function of
 * its own for each byte.
 */
function bytesOf(digits: string): Uint8Array {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0, position = 0; i < bytes.length; i++) {
    const high = digits.charCodeAt(position++);
    const low = digits.charCodeAt(position++);
    bytes[i] = ((high < 0x3a ? high - 0x30 : high - 0x57) << 4) | (low < 0x3a ? low - 0x30 : low - 0x57);
  }
  return bytes;
}
