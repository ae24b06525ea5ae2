interface Timers {
  readonly setImmediate?: (callback: () => void) => unknown;
  readonly setTimeout: (callback: () => void, milliseconds: number) => unknown;
}

interface Host extends Timers {
  readonly process?: { readonly getBuiltinModule?: (name: 'node:timers') => Timers | undefined };
  readonly MessageChannel?: new () => { readonly port1: Port; readonly port2: Port };
}

const host = globalThis as unknown as Host;
// Node's own where there are any: test suites replace the global ones with fake ones, some before this is loaded, and jsdom has no
// setImmediate. Not imported, because this file is loaded in browsers too.
const { setImmediate, setTimeout } = host.process?.getBuiltinModule?.('node:timers') ?? host;
const { MessageChannel } = host;

// Taken at load: test suites replace the host's functions with fake ones. With a fake clock, work just takes longer slices.
export const now = /* @__PURE__ */ performance.now.bind(performance);

/**
 * How long work may run before it yields to the event loop, in milliseconds. Writing and the background work have a slice each in one
 * turn of the event loop, in addition to the caller's own work.
 */
const SLICE_MILLISECONDS = 4;

/** The number of lookups and moves of cursors between two checks of the clock: most of them take less than a microsecond. */
export const READS_PER_LOOK = 16;

/** Divides work into slices, so that the host's event loop stays free. */
export class Pacer {
  readonly #stepsPerLook: number;
  #steps = 0;
  #start = now();

  /** @param stepsPerLook the number of steps between two checks of the clock: more than 1 where a step takes less time than a check. */
  constructor(stepsPerLook: number) {
    this.#stepsPerLook = stepsPerLook;
  }

  /** Counts a step. @returns whether to `pause` before the next one. */
  isDue(): boolean {
    if (++this.#steps < this.#stepsPerLook) return false;
    this.#steps = 0;
    return now() - this.#start >= SLICE_MILLISECONDS;
  }

  /** Lets the host's timers and I/O run. */
  async pause(): Promise<void> {
    await turn();
    this.restart();
  }

  /** Begins a time slice, after other work has run. */
  restart(): void {
    this.#start = now();
  }
}

export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}

interface Port {
  onmessage: (() => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** Waits for the next turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    // Node runs timers that are due one after another: with slices longer than a timer's millisecond, two tasks that take
    // turns by setTimeout keep it from ever reading what arrived. Pauses of 160 ms were measured.
    if (setImmediate !== undefined) setImmediate(resolve);
    else if (MessageChannel === undefined) setTimeout(resolve, 0);
    else sendTurn(new MessageChannel(), resolve);
  });
}

/** With a message. Browsers delay nested timers by 4 ms, which doubled the time of work in slices of 4 ms. */
function sendTurn({ port1, port2 }: { readonly port1: Port; readonly port2: Port }, resolve: () => void): void {
  const onMessage = (): void => {
    port1.close();
    resolve();
  };
  port1.onmessage = onMessage;
  port2.postMessage(undefined);
}
