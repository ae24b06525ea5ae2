/** How a cursor gets a {@link PackedWalk}, whose code is loaded on demand: a page that only looks up keys does not need it. */
import type { PackedWalk } from './packed-walk.js';

type PackedWalkClass = Pick<typeof PackedWalk, 'forward' | 'backward'>;

let provided: PackedWalkClass | undefined;
let isLoading = false;

/** Provides the code of packed walks, for cursors that cannot wait until it is loaded. */
export function providePackedWalk(given: PackedWalkClass): void {
  provided = given;
}

/** What begins packed walks; undefined while the code is missing. The first call starts to load it, for later calls. */
export function packedWalk(): PackedWalkClass | undefined {
  if (provided === undefined && !isLoading) load();
  return provided;
}

function load(): void {
  isLoading = true;
  import('./packed-walk.js').then(
    ({ PackedWalk: loaded }) => providePackedWalk(loaded),
    // The page may be offline. The next walk tries again.
    () => void (isLoading = false),
  );
}
