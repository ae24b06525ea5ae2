import { CallError, type FailureFacts, failureFacts } from './failure.js';
import type { CallOptions } from './worker-calls.js';
import { useChanges, Watchable } from '../session/watchable.js';

/** The progress and the result of a task. */
export interface TaskState<T> {
  readonly result: T | undefined;
  readonly failure: FailureFacts | undefined;
  /** Defined while the task runs. */
  readonly progress: { readonly done: number; readonly total: number } | undefined;
}

/** Long work that continues while other views are shown, and whose result is kept. */
export class Task<T> extends Watchable {
  #state: TaskState<T> = { result: undefined, failure: undefined, progress: undefined };
  #controller: AbortController | undefined;
  readonly #run: (options: CallOptions) => Promise<T>;

  constructor(run: (options: CallOptions) => Promise<T>) {
    super();
    this.#run = run;
  }

  get state(): TaskState<T> {
    return this.#state;
  }

  /** Whether it has run or is running. */
  get wasStarted(): boolean {
    return this.#controller !== undefined;
  }

  async start(): Promise<void> {
    this.#controller?.abort();
    const mine = (this.#controller = new AbortController());
    const set = (state: Partial<TaskState<T>>): void => {
      if (!mine.signal.aborted) this.#set(state);
    };
    set({ failure: undefined, progress: { done: 0, total: 1 } });
    try {
      const result = await this.#run({ signal: mine.signal, onProgress: (done, total) => set({ progress: { done, total } }) });
      set({ result, progress: undefined });
    } catch (error) {
      const isCancelled = error instanceof CallError && error.isCancelled;
      set({ progress: undefined, failure: isCancelled ? undefined : failureFacts(error) });
    }
  }

  cancel(): void {
    this.#controller?.abort();
    this.#set({ progress: undefined });
  }

  #set(state: Partial<TaskState<T>>): void {
    this.#state = { ...this.#state, ...state };
    this.changed();
  }
}

/** The state of a task. The component is redrawn when it changes. */
export function useTask<T>(task: Task<T>): TaskState<T> {
  useChanges(task);
  return task.state;
}
