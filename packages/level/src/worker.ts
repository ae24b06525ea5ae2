/** The entry point for dedicated workers that have databases open for pages. */
import { mustBeOptions } from '@bloom/bytes/internal';
import { webFormats } from './web-formats.js';
import type { Greeting } from './worker/level-messages.js';
import type { WorkerScope } from './worker/browser-parts.js';
import { LevelServer } from './worker/level-server.js';
import type { ServeOptions } from './worker/shared-database.js';

export type { ServeOptions } from './worker/shared-database.js';

const SERVE_OPTIONS: Record<keyof ServeOptions, true> = { comparator: true, filterPolicy: true, filterPolicies: true, codecs: true, onEvent: true, compression: true };

/**
 * Makes a dedicated worker serve the level that its page opens: `new BloomLevel(path, { worker: () => new Worker(…) })`. Only needed for
 * options that a page cannot send to a worker, or if a bundler does not find the worker that comes with the package.
 *
 * @param options for every database that the worker opens.
 *
 * @example
 * ```ts
 * import { serveLevels } from '@bloom/level/worker';
 * serveLevels();
 * ```
 */
export function serveLevels(options: ServeOptions = {}): void {
  mustBeOptions('serveLevels', options, SERVE_OPTIONS);
  const scope = globalThis as unknown as WorkerScope;
  scope.onmessage = ({ data, ports }) => {
    scope.onmessage = null;
    new LevelServer(data as Greeting, ports[0]!, webFormats, options, () => scope.close());
  };
}
