import { ByteBuffer } from '../formats/byte-buffer.js';
import { EXIT } from '../exit-codes.js';
import { failureOf } from '../failure.js';
import { type StandardStreams, standardStreams } from '../standard-streams.js';
import { styled } from './colour.js';
import { terminalJson, terminalLine, terminalLines } from './terminal-text.js';

/** The number of bytes to collect before writing to standard output. */
const WRITE_BYTES = 64 * 1024;

/** Writes the collected bytes if there are enough for a write. */
export function drain(out: ByteBuffer): Promise<void> | undefined {
  return out.length < WRITE_BYTES ? undefined : flush(out);
}

/**
 * Writes all collected bytes and waits for the write, so that output for a slow reader does not accumulate in memory.
 *
 * On a terminal, control characters are escaped; files and pipes get the bytes.
 *
 * @param isSafe whether colours are the only control characters.
 */
export async function flush(out: ByteBuffer, isSafe = false): Promise<void> {
  if (out.length === 0) return;
  const { stdout } = standardStreams();
  const shown = stdout.isTTY && !isSafe ? terminalLines(out.view()) : out.view();
  await new Promise<void>((resolve, reject) => {
    stdout.write(shown, (error) => {
      if (!error) resolve();
      // A closed pipe ends the program: see `endWithReader`.
      else if (!isBrokenPipe(error)) reject(failureOf('standard output', error));
    });
  });
  out.clear();
}

/** Lines for people, on standard output. */
export class Lines {
  readonly #out = new ByteBuffer();

  /** Adds a line, in which unsafe characters are escaped. */
  add(line: string): Promise<void> | undefined {
    this.#out.utf8(`${terminalLine(line)}\n`);
    return drain(this.#out);
  }

  /** Adds a value as a line of JSON, which is never truncated. */
  json(value: object): Promise<void> | undefined {
    this.#out.utf8(`${terminalJson(value)}\n`);
    return drain(this.#out);
  }

  flush(): Promise<void> {
    return flush(this.#out);
  }
}

/** Prints lines to standard output. */
export async function printLines(texts: Iterable<string>): Promise<void> {
  const lines = new Lines();
  for (const text of texts) await lines.add(text);
  await lines.flush();
}

/** Prints a value to standard output as one line of JSON. */
export async function printJson(value: object): Promise<void> {
  const lines = new Lines();
  await lines.json(value);
  await lines.flush();
}

/** Prints what is of no use if it is incomplete: if it is not read to its end, the program ends with the exit code of a failure. */
export async function printForReader(print: () => Promise<void>): Promise<void> {
  process.exitCode = EXIT.failure;
  await print();
  process.exitCode = EXIT.ok;
}

/**
 * Ends the program silently with the current exit code when its output is no longer read, as in `bloom scan | head`.
 */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isBrokenPipe(error)) process.exit();
  });
}

function isBrokenPipe(error: NodeJS.ErrnoException): boolean {
  return error.code === 'EPIPE';
}

let usedErrors: StandardStreams['stderr'] | undefined;

/** Standard error, whose errors are ignored. It is opened when something is first written to it, because that takes Node 2 ms. */
export function standardError(): StandardStreams['stderr'] {
  const { stderr } = standardStreams();
  if (usedErrors !== stderr) {
    usedErrors = stderr;
    usedErrors.on('error', () => {
      // Nobody reads the errors.
    });
  }
  return usedErrors;
}

/** Prints a line to standard error. @param colour the colour of its first word on a terminal. */
export function note(line: string, colour?: 'red'): void {
  const stream = standardError();
  stream.write(`${colour === undefined ? 'bloom:' : styled(colour, 'bloom:', stream)} ${terminalLine(line)}\n`);
}

/** Ends the program after all notes are written. `process.exit` alone would drop those that a slow reader has not read yet. */
export async function exit(): Promise<never> {
  const errors = usedErrors;
  if (errors !== undefined && errors.writableLength > 0) {
    await new Promise<void>((resolve) => {
      errors.write('', () => {
        resolve();
      });
    });
  }
  // Open input would keep the program running.
  process.exit();
}
