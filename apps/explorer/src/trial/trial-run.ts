import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';
import type { WorkerCalls } from '../worker/worker-calls.js';
import { keysOfLines } from './keys-of-lines.js';
import type { AbsentKind, FilterChoice, TrialStart, TriedFilters } from './trial-facts.js';
import { useChanges, Watchable } from '../session/watchable.js';

/** What the page shows of trials. */
export interface TrialState {
  readonly choice: FilterChoice;
  readonly start: TrialStart | undefined;
  /** What was tried with the keys of `start`, by its choice. */
  readonly tried: ReadonlyMap<string, TriedFilters>;
  /** The kind of absent keys, or the file of the reader's own. */
  readonly asked: AbsentKind | { readonly file: string };
  readonly progress: { readonly done: number; readonly total: number } | undefined;
  readonly failure: FailureFacts | undefined;
}

/** Waits while a slider is still moving. */
const DELAY_MS = 150;
/** Shown in addition to the reader's choice. */
const COMPARED_BITS = [6, 10, 14];

const FIRST: FilterChoice = { policy: 'leveldb', bitsPerKey: 10, filterRange: 2048 };

export function keyOfChoice({ policy, bitsPerKey, filterRange }: FilterChoice): string {
  return `${policy} ${bitsPerKey} ${filterRange}`;
}

/** What is compared with a choice: the same filters with other bits per key, and LevelDB's filters with fitted ones. */
export function comparedChoices(choice: FilterChoice): FilterChoice[] {
  const sized = [...new Set([...COMPARED_BITS, choice.bitsPerKey])].sort((a, b) => a - b).map((bitsPerKey) => ({ ...choice, bitsPerKey }));
  return choice.policy === 'blocked' ? sized : [...sized, { ...choice, policy: choice.policy === 'fitted' ? 'leveldb' : 'fitted' }];
}

/** The methods of a worker that has a table or a database open. */
interface TrialMethods {
  startTrial(asked: readonly Uint8Array[] | AbsentKind, seed: number): TrialStart;
  tryFilters(choice: FilterChoice): TriedFilters;
}

/** The trials of a table or database that is open: they and their results are there as long as it is. */
export class TrialRun extends Watchable {
  #state: TrialState = { choice: FIRST, start: undefined, tried: new Map(), asked: 'random', progress: undefined, failure: undefined };
  #asked: readonly Uint8Array[] | AbsentKind = 'random';
  #controller: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #calls: WorkerCalls;

  constructor(calls: WorkerCalls) {
    super();
    this.#calls = calls;
  }

  get state(): TrialState {
    return this.#state;
  }

  /** Takes other filters; they are tried at once if a trial has begun. */
  choose(part: Partial<FilterChoice>): void {
    this.#set({ choice: { ...this.#state.choice, ...part } });
    clearTimeout(this.#timer);
    if (this.#state.start !== undefined) this.#timer = setTimeout(() => void this.#run(), DELAY_MS);
  }

  /** Takes the reader's own keys, one in each line of a file. */
  async take(file: File): Promise<void> {
    this.#asked = keysOfLines(new Uint8Array(await file.arrayBuffer()));
    this.#set({ asked: { file: file.name }, start: undefined, tried: new Map() });
    await this.#run();
  }

  /** Begins with absent keys, each time with others. */
  async start(asked: AbsentKind): Promise<void> {
    this.#asked = asked;
    this.#set({ asked, start: undefined, tried: new Map() });
    await this.#run();
  }

  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
    this.#set({ progress: undefined });
  }

  async #run(): Promise<void> {
    this.#controller?.abort();
    const mine = (this.#controller = new AbortController());
    const set = (state: Partial<TrialState>): void => {
      if (this.#controller === mine) this.#set(state);
    };
    const worker = this.#calls.remote<TrialMethods>({ signal: mine.signal, onProgress: (done, total) => set({ progress: { done, total } }) });
    set({ failure: undefined, progress: { done: 0, total: 1 } });
    try {
      if (this.#state.start === undefined) {
        const start = await worker.startTrial(this.#asked, crypto.getRandomValues(new Uint32Array(1))[0]!);
        set({ start });
      }
      const { choice } = this.#state;
      // The reader's choice first.
      for (const wanted of [choice, ...comparedChoices(choice)]) {
        if (this.#controller !== mine) return;
        if (this.#state.tried.has(keyOfChoice(wanted))) continue;
        const tried = await worker.tryFilters(wanted);
        set({ tried: new Map(this.#state.tried).set(keyOfChoice(wanted), tried) });
      }
      set({ progress: undefined });
    } catch (error) {
      const isCancelled = error instanceof CallError && error.isCancelled;
      set({ progress: undefined, failure: isCancelled ? undefined : failureFacts(error) });
    }
  }

  #set(state: Partial<TrialState>): void {
    this.#state = { ...this.#state, ...state };
    this.changed();
  }
}

/** The state of trials. Redraws when it changes. */
export function useTrials(run: TrialRun): TrialState {
  useChanges(run);
  return run.state;
}
