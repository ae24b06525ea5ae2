import { WritableOpfsFolder } from '@bloom/leveldb/opfs';
import { browser } from './browser-parts.js';
import { ROOM_BYTES, type SharedPlace } from './shared-database.js';

/** A path in the origin private file system. */
export function opfsPlace(path: string): SharedPlace {
  return {
    path,
    folder: () => new WritableOpfsFolder(path),
    /** Whether the origin may store more, according to the browser. */
    async canReopen() {
      const { quota = Infinity, usage = 0 } = (await browser.navigator.storage?.estimate?.()) ?? {};
      return quota - usage >= ROOM_BYTES;
    },
  };
}
