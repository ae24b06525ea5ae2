import { instantiateKernel, type Kernel } from '@bloom/bytes/internal';
import { CRC32C_KERNEL } from './crc32c-kernel.wasm.js';
import type { Crc32c } from './plain-crc32c.js';

interface KernelExports extends Kernel {
  readonly TABLES_AT: { readonly value: number };
  readonly DATA_AT: { readonly value: number };
  readonly DATA_BYTES: { readonly value: number };
  update(register: number, length: number): number;
}

/**
 * CRC-32C in WebAssembly, `assembly/crc32c-kernel.ts`, with the tables of `crc-tables.ts`. The bytes are copied into the
 * kernel's memory, which takes a tenth of the time.
 *
 * @returns undefined where the host does not allow a kernel.
 */
export function kernelCrc32c(tables: Int32Array): Crc32c | undefined {
  const kernel = instantiateKernel<KernelExports>(CRC32C_KERNEL);
  if (kernel === undefined) return undefined;
  const { buffer } = kernel.memory;
  const memory = new Uint8Array(buffer);
  const dataAt = kernel.DATA_AT.value;
  const room = kernel.DATA_BYTES.value;

  // Little-endian on every host, as WebAssembly is.
  const view = new DataView(buffer, kernel.TABLES_AT.value);
  for (let i = 0; i < tables.length; i++) view.setInt32(i * 4, tables[i]!, true);

  return (bytes, seed, length) => {
    let register = ~seed;
    let start = 0;
    for (; length - start > room; start += room) {
      memory.set(bytes.subarray(start, start + room), dataAt);
      register = kernel.update(register, room);
    }
    // Bytes behind the last one do no harm. Leaving them out would take a view.
    memory.set(start === 0 && bytes.length <= room ? bytes : bytes.subarray(start, length), dataAt);
    return ~kernel.update(register, length - start) >>> 0;
  };
}
