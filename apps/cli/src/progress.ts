import { count } from '@bloom/report';
import { SingleBar } from 'cli-progress';

/** How long work takes before its progress is shown. */
const QUIET_MS = 1000;
/** How often a counter is drawn. */
const REDRAW_MS = 100;

/** Shows the progress of a build, on a terminal and only if the build takes long. */
export class Progress {
  readonly #isShown: boolean;
  readonly #start = performance.now();
  readonly #label: string;
  readonly #total: number | undefined;
  #bar: SingleBar | undefined;
  #drawn = 0;

  /** @param total the final value; undefined when it is unknown. */
  constructor(label: string, total: number | undefined, isWanted: boolean) {
    this.#label = label;
    this.#total = total;
    this.#isShown = isWanted && process.stderr.isTTY;
  }

  update(value: number): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#start < QUIET_MS) return;
    if (this.#total !== undefined) {
      this.#bar ??= startBar(this.#label, this.#total);
      this.#bar.update(value);
    } else if (now - this.#drawn >= REDRAW_MS) {
      process.stderr.write(`\r${this.#label} ${count(value)}`);
      this.#drawn = now;
    }
  }

  /** Clears what was shown. */
  stop(): void {
    this.#bar?.stop();
    if (this.#drawn > 0) process.stderr.write('\r\x1b[K');
    this.#drawn = 0;
  }
}

function startBar(label: string, total: number): SingleBar {
  const bar = new SingleBar({
    format: `${label} [{bar}] {percentage}% | {eta_formatted} left`,
    stream: process.stderr,
    clearOnComplete: true,
    // Otherwise the terminal would have to be restored when a signal ends the program.
    linewrap: true,
    gracefulExit: false,
  });
  bar.start(total, 0);
  return bar;
}
