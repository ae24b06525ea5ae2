/** Standard input that somebody types. A file of its own, for `node:tty` takes a millisecond to load. */
import { isatty } from 'node:tty';
import { standardStreams } from '../standard-streams.js';

/** Whether it is a terminal. Asking `process.stdin` for that would make Node take it over, which sets a pipe so that reads do not wait. */
export function isTerminalInput(): boolean {
  return isatty(standardStreams().stdinFd);
}
