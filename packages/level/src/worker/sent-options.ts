import type { OpenOptions } from '../level-options.js';

/** What becomes of each option in a worker: it is sent, or it has functions, which cannot be sent, or it is of no use there. */
const OPTIONS: Record<keyof OpenOptions, 'sent' | 'function' | 'unused'> = {
  createIfMissing: 'sent',
  errorIfExists: 'sent',
  compression: 'sent',
  cacheSize: 'sent',
  writeBufferSize: 'sent',
  maxFileSize: 'sent',
  blockSize: 'sent',
  blockRestartInterval: 'sent',
  maxOpenFiles: 'sent',
  maxBlockBytes: 'sent',
  bitsPerKey: 'sent',
  fitFilters: 'sent',
  filterRange: 'sent',
  damage: 'sent',
  lock: 'sent',
  reuseLogs: 'sent',
  comparator: 'function',
  filterPolicy: 'function',
  filterPolicies: 'function',
  codecs: 'function',
  onEvent: 'function',
  passive: 'unused',
  multithreading: 'unused',
};

/** The options that are sent to a worker. @throws TypeError for one that cannot be sent. */
export function sentOptions(options: OpenOptions): OpenOptions {
  const sent: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(OPTIONS)) {
    const value = options[name as keyof OpenOptions];
    if (value === undefined || kind === 'unused') continue;
    if (kind === 'sent' && !hasFunctions(name, value)) sent[name] = value;
    // Null is the choice of no filters. For the others it counts as not given.
    else if (value === null && name === 'filterPolicy') sent[name] = value;
    else if (value !== null) {
      throw new TypeError(`${name} has functions, which cannot be sent to the worker that has the database open: pass it to serveLevels, in a worker of your own`);
    }
  }
  return sent;
}

/** Whether the option is a codec, or a function of the level. */
function hasFunctions(name: string, value: unknown): boolean {
  return (name === 'compression' && typeof value === 'object' && value !== null) || typeof value === 'function';
}
