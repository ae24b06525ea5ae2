/** Whether standard input is a terminal. A separate file, because loading `node:tty` takes a millisecond. */
import { isatty } from 'node:tty';
import { standardStreams } from '../standard-streams.js';

/** Whether standard input is a terminal. `process.stdin` is not used, because accessing it makes reads of a pipe non-blocking. */
export function isTerminalInput(): boolean {
  return isatty(standardStreams().stdinFd);
}
