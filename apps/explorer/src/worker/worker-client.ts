import { type CallOptions, type Remote, WorkerCalls } from './worker-calls.js';

/** A file, a database or a profile that is open in its own worker. */
export class WorkerClient<Origin, Methods> {
  readonly worker: Remote<Methods>;

  constructor(
    readonly origin: Origin,
    private readonly calls: WorkerCalls,
  ) {
    this.worker = calls.remote<Methods>();
  }

  /** The worker's methods, which are called with these options. */
  calling(options: CallOptions): Remote<Methods> {
    return this.calls.remote<Methods>(options);
  }

  close(): void {
    this.calls.close();
  }
}

/** What `open` opens in a worker, which is ended if that fails. */
export async function openedIn<Client>(worker: Worker, open: (calls: WorkerCalls) => Promise<Client>): Promise<Client> {
  const calls = new WorkerCalls(worker);
  try {
    return await open(calls);
  } catch (error) {
    calls.close();
    throw error;
  }
}
