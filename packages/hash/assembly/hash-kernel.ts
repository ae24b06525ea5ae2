// AssemblyScript. The loop of `hashEach`, for `src/hash-kernel.ts`, which lays out the memory: all addresses are bytes from
// its start.
import { writeHashes } from './hash-keys';

/** Writes the hash of each key. Key i is bytes[offsets[i], offsets[i + 1]). */
export function hashKeys(bytes: usize, offsets: usize, count: u32, seed: u32, hashes: usize): void {
  writeHashes(bytes, offsets, count, seed, hashes);
}
