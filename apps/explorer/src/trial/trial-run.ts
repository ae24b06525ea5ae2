import { Task, type TaskState } from '../worker/task.js';
import type { CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { keysOfLines } from './keys-of-lines.js';
import type { AbsentKind, FilterChoice, TrialStart, TriedFilters } from './trial-facts.js';
import { useChanges, Watchable } from '../session/watchable.js';

/** The choices and results of trials. */
interface Trials {
  readonly choice: FilterChoice;
  readonly start: TrialStart | undefined;
  /** The results with the keys of `start`, by choice. */
  readonly tried: ReadonlyMap<string, TriedFilters>;
  /** The kind of absent keys, or the file with the user's own keys. */
  readonly asked: AbsentKind | { readonly file: string };
}

/** The state of trials for the page. */
export type TrialState = Trials & Pick<TaskState<void>, 'progress' | 'failure'>;

/** The delay before a trial, in milliseconds, during which a slider may still move. */
const DELAY_MS = 150;
/** The bits per key that are tried in addition to the user's choice. */
const COMPARED_BITS = [6, 10, 14];

const FIRST: FilterChoice = { policy: 'leveldb', bitsPerKey: 10, filterRange: 2048 };

export function keyOfChoice({ policy, bitsPerKey, filterRange }: FilterChoice): string {
  return `${policy} ${bitsPerKey} ${filterRange}`;
}

/** The choices to compare with a choice: the same filters with other bits per key, and LevelDB's filters with fitted ones. */
export function comparedChoices(choice: FilterChoice): FilterChoice[] {
  const sized = [...new Set([...COMPARED_BITS, choice.bitsPerKey])].sort((a, b) => a - b).map((bitsPerKey) => ({ ...choice, bitsPerKey }));
  return choice.policy === 'blocked' ? sized : [...sized, { ...choice, policy: choice.policy === 'fitted' ? 'leveldb' : 'fitted' }];
}

/** The methods of a worker with an open table or database. */
interface TrialMethods {
  startTrial(asked: readonly Uint8Array[] | AbsentKind, seed: number): TrialStart;
  tryFilters(choice: FilterChoice): TriedFilters;
}

/** The trials of an open table or database. Their results are kept while it is open. */
export class TrialRun extends Watchable {
  #state: Trials = { choice: FIRST, start: undefined, tried: new Map(), asked: 'random' };
  #asked: readonly Uint8Array[] | AbsentKind = 'random';
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #calls: WorkerCalls;
  readonly #task = new Task<void>((options) => this.#run(options));

  constructor(calls: WorkerCalls) {
    super();
    this.#calls = calls;
    this.#task.subscribe(() => this.changed());
  }

  get state(): TrialState {
    const { progress, failure } = this.#task.state;
    return { ...this.#state, progress, failure };
  }

  /** Changes the choice of filters, and tries them if a trial has begun. */
  choose(part: Partial<FilterChoice>): void {
    this.#set({ choice: { ...this.#state.choice, ...part } });
    clearTimeout(this.#timer);
    if (this.#state.start !== undefined) this.#timer = setTimeout(() => void this.#task.start(), DELAY_MS);
  }

  /** Starts with the user's own keys, one per line of a file. */
  async take(file: File): Promise<void> {
    this.#asked = keysOfLines(new Uint8Array(await file.arrayBuffer()));
    this.#set({ asked: { file: file.name }, start: undefined, tried: new Map() });
    await this.#task.start();
  }

  /** Starts with absent keys, different ones each time. */
  async start(asked: AbsentKind): Promise<void> {
    this.#asked = asked;
    this.#set({ asked, start: undefined, tried: new Map() });
    await this.#task.start();
  }

  cancel(): void {
    this.#task.cancel();
  }

  async #run(options: CallOptions): Promise<void> {
    const worker = this.#calls.remote<TrialMethods>(options);
    if (this.#state.start === undefined) {
      const start = await worker.startTrial(this.#asked, crypto.getRandomValues(new Uint32Array(1))[0]!);
      if (options.signal?.aborted === true) return;
      this.#set({ start });
    }
    const { choice } = this.#state;
    // The user's choice is tried first.
    for (const wanted of [choice, ...comparedChoices(choice)]) {
      if (this.#state.tried.has(keyOfChoice(wanted))) continue;
      const tried = await worker.tryFilters(wanted);
      if (options.signal?.aborted === true) return;
      this.#set({ tried: new Map(this.#state.tried).set(keyOfChoice(wanted), tried) });
    }
  }

  #set(state: Partial<Trials>): void {
    this.#state = { ...this.#state, ...state };
    this.changed();
  }
}

/** The state of trials. The component is redrawn when it changes. */
export function useTrials(run: TrialRun): TrialState {
  useChanges(run);
  return run.state;
}
