import type { CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { openedIn, WorkerClient } from '../worker/worker-client.js';
import { type ProfileOrigin, sampleProfile } from './profile-origin.js';
import type { FolderFacts } from './storage-facts.js';
import type { StorageMethods } from './storage-worker.js';

/** A profile that is open in its own worker. */
export class StorageClient extends WorkerClient<ProfileOrigin, StorageMethods> {
  readonly folders: readonly FolderFacts[];

  private constructor(origin: ProfileOrigin, calls: WorkerCalls, folders: readonly FolderFacts[]) {
    super(origin, calls);
    this.folders = folders;
  }

  /** Opens a profile, or the sample. */
  static async open(origin: ProfileOrigin, options: CallOptions): Promise<StorageClient> {
    const { name, folders } = origin === sampleProfile ? await (await import('./sample-profile.js')).loadSampleProfile(options.signal) : origin;
    const worker = new Worker(new URL('./storage-worker.ts', import.meta.url), { type: 'module' });
    return openedIn(worker, async (calls) => new StorageClient(origin, calls, await calls.remote<StorageMethods>(options).open({ name, folders })));
  }
}
