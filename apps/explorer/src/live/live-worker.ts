import type { Work } from '../worker/calls.js';
import { serveCalls } from '../worker/serve-calls.js';
import { LiveDatabase } from './live-database.js';
import type { Crash } from './live-facts.js';
import type { PaceName } from './pace.js';

let started: LiveDatabase | undefined;

function live(): LiveDatabase {
  return (started ??= new LiveDatabase('slow'));
}

serveCalls({
  state: (_: Work, number: number, lastEvent: number) => live().state(number, lastEvent),
  setPace: (_: Work, name: PaceName) => live().setPace(name),
  step: () => live().step(),
  put: (_: Work, key: Uint8Array, value: Uint8Array, sync: boolean) => live().put(key, value, sync),
  delete: (_: Work, key: Uint8Array, sync: boolean) => live().delete(key, sync),
  writeMany: (_: Work, sync: boolean) => live().writeMany(sync),
  flush: () => live().flush(),
  compact: () => live().compact(),
  hold: () => live().hold(),
  release: (_: Work, id: number) => live().release(id),
  crash: (_: Work, how: Crash) => live().crash(how),
  startOver: () => live().startOver(),
  lookup: (_: Work, key: Uint8Array, sequence: string | undefined) => live().lookup(key, sequence),
  seek: (_: Work, key: Uint8Array, sequence: string | undefined) => live().seek(key, sequence),
  watch: (_: Work, key: Uint8Array) => live().watch(key),
  file: (_: Work, name: string) => live().file(name),
});
