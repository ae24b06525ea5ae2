import { ByteBuffer } from './byte-buffer.js';
import { failureOf } from './failure.js';
import { terminalLine, terminalLines } from './terminal-text.js';

/** Bytes that are gathered before they are written to standard output. */
const WRITE_BYTES = 64 * 1024;

/** Writes what `out` has gathered, once that is enough to be worth it. */
export function drain(out: ByteBuffer): Promise<void> | undefined {
  return out.length < WRITE_BYTES ? undefined : flush(out);
}

/**
 * Writes all that `out` has gathered, and waits until that is done: nothing piles up before a slow reader.
 *
 * A terminal gets escapes for what would control it; files and pipes get the bytes.
 */
export async function flush(out: ByteBuffer): Promise<void> {
  if (out.length === 0) return;
  const shown = process.stdout.isTTY ? terminalLines(out.view()) : out.view();
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(shown, (error) => {
      if (!error) resolve();
      // What the reader of a pipe does not want ends the program: see `endWithReader`.
      else if (!isBrokenPipe(error)) reject(failureOf('standard output', error));
    });
  });
  out.clear();
}

/** Lines for people, on standard output. */
export class Lines {
  readonly #out = new ByteBuffer();

  /** Adds a line, whatever characters are in it. */
  add(line: string): Promise<void> | undefined {
    this.#out.utf8(`${terminalLine(line)}\n`);
    return drain(this.#out);
  }

  flush(): Promise<void> {
    return flush(this.#out);
  }
}

/**
 * Ends the program quietly once nobody reads its output, as `bloom scan | head` does, with the exit code that was
 * reached by then.
 */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isBrokenPipe(error)) process.exit();
  });
  process.stderr.on('error', () => {
    // Nobody reads what goes wrong.
  });
}

function isBrokenPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE';
}

/** Shows a line about the work, beside what the command gives. */
export function note(line: string): void {
  process.stderr.write(`bloom: ${terminalLine(line)}\n`);
}

/** Ends the program once all notes are written: `process.exit` alone drops those that a slow reader has not taken yet. */
export async function exit(): Promise<never> {
  if (process.stderr.writableLength > 0) {
    await new Promise<void>((resolve) => {
      process.stderr.write('', () => {
        resolve();
      });
    });
  }
  // Input that is still open would keep the program alive.
  process.exit();
}

/** 1234567 as 1,234,567. */
export function count(value: number | bigint): string {
  return value.toLocaleString('en-US');
}

/** `1 block`, `2 blocks`. */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
}
