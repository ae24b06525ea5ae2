/** How fast a database may change its folder. */
export type PaceName = (typeof PACES)[number];
export const PACES = ['at-once', 'slow', 'step'] as const;

/** How long a step takes in slow motion. */
const STEP_MS = 160;

interface Step {
  readonly what: string;
  readonly take: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Lets the steps of a database pass: at once, one after another with pauses, or each when it is asked to. */
export class Pace {
  readonly #changed: () => void;
  #name: PaceName;
  #waiting: Step[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Error | undefined;

  /** @param changed called when other steps wait than before. */
  constructor(name: PaceName, changed: () => void) {
    this.#name = name;
    this.#changed = changed;
  }

  /** What the steps that wait would do, the next one first. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ what }) => what);
  }

  /** Waits for a step's turn; undefined where it has it already. @param what it does. */
  pass(what: string): Promise<void> | undefined {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    if (this.#name === 'at-once' && this.#waiting.length === 0) return undefined;
    return new Promise((take, refuse) => {
      this.#waiting.push({ what, take, refuse });
      this.#changed();
      this.#schedule();
    });
  }

  /** Lets the next step pass. */
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

  /** Refuses every step from now on. */
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
