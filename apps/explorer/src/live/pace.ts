/** The speed at which a database changes its folder. */
export type PaceName = (typeof PACES)[number];
export const PACES = ['at-once', 'slow', 'step'] as const;

/** The duration of a step in slow motion, in milliseconds. */
const STEP_MS = 160;

interface Step {
  readonly what: string;
  readonly take: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Controls the steps of a database: without pauses, with pauses, or one at a time on request. */
export class Pace {
  readonly #changed: () => void;
  #name: PaceName;
  #waiting: Step[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Error | undefined;

  /** @param changed called when the waiting steps change. */
  constructor(name: PaceName, changed: () => void) {
    this.#name = name;
    this.#changed = changed;
  }

  /** Descriptions of the waiting steps, the next one first. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ what }) => what);
  }

  /** Waits for a step's turn; undefined if it need not wait. @param what the description of the step. */
  pass(what: string): Promise<void> | undefined {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#name === 'at-once' && this.#waiting.length === 0) return undefined;
    return new Promise((take, refuse) => {
      this.#waiting.push({ what, take, refuse });
      this.#changed();
      this.#schedule();
    });
  }

  /** Runs the next step. */
  step(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    next.take();
    this.#changed();
  }

  set(name: PaceName): void {
    this.#name = name;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (name === 'at-once') while (this.#waiting.length > 0) this.step();
    this.#schedule();
    this.#changed();
  }

  /** Rejects all further steps. */
  end(error: Error): void {
    this.#end = error;
    clearTimeout(this.#timer);
    for (const { refuse } of this.#waiting.splice(0)) refuse(error);
  }

  #schedule(): void {
    if (this.#name !== 'slow' || this.#timer !== undefined || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.step();
      this.#schedule();
    }, STEP_MS);
  }
}
