import { count } from '@bloom/report';
import { SingleBar } from 'cli-progress';
import { standardError } from './output.js';

/** Milliseconds after which the progress of work is shown. */
const QUIET_MS = 1000;
/** Milliseconds between two updates of the progress. */
const REDRAW_MS = 100;
const MEGABYTE = 1e6;

/** The unit of the progress. */
export type ProgressUnit = 'bytes' | 'entries';

/** Shows the progress of work, its rate and the remaining time, on a terminal and only if the work takes long. */
export class Progress {
  readonly #isShown: boolean;
  readonly #start = performance.now();
  readonly #label: string;
  readonly #unit: ProgressUnit;
  readonly #total: number | undefined;
  #bar: SingleBar | undefined;
  #drawn = 0;

  /** @param total the final value; undefined if it is unknown. */
  constructor(label: string, unit: ProgressUnit, total: number | undefined, isWanted: boolean) {
    this.#label = label;
    this.#unit = unit;
    this.#total = total;
    // A dumb terminal cannot overwrite a line.
    this.#isShown = isWanted && standardError().isTTY === true && process.env.TERM !== 'dumb';
  }

  update(value: number): void {
    if (!this.#isShown) return;
    const now = performance.now();
    const elapsed = now - this.#start;
    if (elapsed < QUIET_MS || now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    const rate = this.#rateText(value / (elapsed / 1000));
    if (this.#total === undefined) {
      standardError().write(`\r\x1b[K${this.#label}: ${count(value)} ${this.#unit}, ${rate}`);
      return;
    }
    this.#bar ??= startBar(this.#label, this.#total);
    // The input may have grown in the meantime.
    this.#bar.update(Math.min(value, this.#total), { rate });
  }

  /** Clears the progress line. */
  stop(): void {
    this.#bar?.stop();
    if (this.#bar === undefined && this.#drawn > 0) standardError().write('\r\x1b[K');
    this.#bar = undefined;
    this.#drawn = 0;
  }

  #rateText(perSecond: number): string {
    return this.#unit === 'bytes' ? `${(perSecond / MEGABYTE).toFixed(1)} MB/s` : `${count(Math.round(perSecond))} entries/s`;
  }
}

function startBar(label: string, total: number): SingleBar {
  const bar = new SingleBar({
    format: `${label} [{bar}] {percentage}% | {rate} | {eta_formatted} left`,
    barsize: 24,
    stream: standardError(),
    clearOnComplete: true,
    // Otherwise the terminal would have to be restored when a signal ends the program.
    linewrap: true,
    gracefulExit: false,
  });
  bar.start(total, 0, { rate: '' });
  return bar;
}
