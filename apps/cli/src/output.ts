import type { ByteBuffer } from './byte-buffer.js';
import { failureOf } from './failure.js';

/** Bytes that are gathered before they are written to standard output. */
const WRITE_BYTES = 64 * 1024;

/** Writes what `out` has gathered, once that is enough to be worth it. */
export function drain(out: ByteBuffer): Promise<void> | undefined {
  return out.length < WRITE_BYTES ? undefined : flush(out);
}

/** Writes all that `out` has gathered, and waits until that is done: nothing piles up before a slow reader. */
export async function flush(out: ByteBuffer): Promise<void> {
  if (out.length === 0) return;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(out.view(), (error) => {
      if (error) reject(failureOf('standard output', error));
      else resolve();
    });
  });
  out.clear();
}

/** Ends the program quietly once nobody reads its output, as `bloom scan | head` does. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
  });
  process.stderr.on('error', () => {
    // Nobody reads what goes wrong.
  });
}

/** Shows a line about the work, beside what the command gives. */
export function note(line: string): void {
  process.stderr.write(`bloom: ${line}\n`);
}

/** 1234567 as 1,234,567. */
export function count(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 block`, `2 blocks`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}
