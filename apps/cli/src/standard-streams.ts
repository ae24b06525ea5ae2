import type { Readable, Writable } from 'node:stream';

/** The standard streams of a run of the program. */
export interface StandardStreams {
  /** The descriptor of standard input. It is read directly, because `stdin` would make reads of a pipe non-blocking. */
  readonly stdinFd: number;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** The streams of the process. Each is opened at its first use, because opening standard error takes 2 ms. */
const processStreams: StandardStreams = {
  stdinFd: 0,
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
};

let used = processStreams;

/** The streams of the current command. */
export function standardStreams(): StandardStreams {
  return used;
}

/** Sets the streams of the next command; without an argument, they are those of the process. */
export function setStandardStreams(streams = processStreams): void {
  used = streams;
}
