/** The report of --trace on standard error: the reads or requests of a command, their bytes, and the answers of filters. */
import type { Folder, FolderFile, ReaderStats, SyncFolder, SyncFolderFile } from '@bloom/leveldb';
import { count, counted } from '@bloom/report';
import type { Source, SyncSource, TableStats } from '@bloom/sstable';
import type { HttpSourceOptions } from '@bloom/sstable/http';
import { asHostFetch } from '@bloom/sstable/internal';
import type { BlobFolder } from '@bloom/web-storage';
import { note } from '../outputs/output.js';

type Fetch = NonNullable<HttpSourceOptions['fetch']>;

/** Counts reads. Without --trace there is no such object, and nothing is counted. */
export class Trace {
  #reads = 0;
  #requests = 0;
  #bytes = 0;

  /** A source that counts the reads of `source`. */
  source<T extends Source | SyncSource>(source: T): T {
    return this.#file(source);
  }

  /** A folder that counts the reads of the files in `folder`. */
  folder<T extends Folder | SyncFolder>(folder: T): T {
    const open = (name: string, ...rest: unknown[]): unknown => {
      const file = Reflect.apply(folder.open.bind(folder) as (...args: unknown[]) => unknown, undefined, [name, ...rest]) as FolderFile | undefined | Promise<FolderFile | undefined>;
      return file instanceof Promise ? file.then((opened) => opened && this.#file(opened)) : file && this.#file(file);
    };
    return new Proxy(folder, { get: (target, member) => (member === 'open' ? open : boundMember(target, member)) });
  }

  /** A blob folder that counts the reads of the files in `blobs`. */
  blobs(blobs: BlobFolder): BlobFolder {
    return {
      read: async (path) => {
        const bytes = await blobs.read(path);
        if (bytes !== undefined) {
          this.#reads++;
          this.#bytes += bytes.length;
        }
        return bytes;
      },
    };
  }

  /** `fetch`, with a line for each request. Headers are not shown, and of the address only the last part. */
  fetch(send: Fetch): Fetch {
    return asHostFetch(async (url, init) => {
      const started = performance.now();
      const [, range] = /^bytes=(.*)$/.exec(Object.entries(init.headers).find(([name]) => name.toLowerCase() === 'range')?.[1] ?? '') ?? [];
      const name = new URL(url).pathname.split('/').at(-1)!;
      const what = `${init.method} ${name === '' ? '/' : name}${range === undefined ? '' : `, bytes ${range}`}`;
      this.#requests++;
      try {
        const response = await send(url, init);
        const length = response.headers.get('content-length');
        if (init.method === 'GET' && length !== null) this.#bytes += Number(length);
        note(`request: ${what}: ${response.status}, ${length === null ? 'unknown length' : counted(Number(length), 'byte')}, ${Math.round(performance.now() - started)} ms`);
        return response;
      } catch (error) {
        note(`request: ${what}: failed after ${Math.round(performance.now() - started)} ms`);
        throw error;
      }
    });
  }

  /** Prints the sums. @param stats of a table or a database that keys or entries were read from. */
  report(name: string, stats?: TableStats | ReaderStats): void {
    const read = this.#requests > 0 ? `${counted(this.#requests, 'request')}, ${counted(this.#bytes, 'byte')}` : `${counted(this.#reads, 'read')}, ${counted(this.#bytes, 'byte')}`;
    if (stats === undefined) {
      note(`${name}: ${read}`);
      return;
    }
    const { filterNegatives, filterTruePositives, filterFalsePositives, filtersUnread, blockReads } = stats;
    const asked = filterNegatives + filterTruePositives + filterFalsePositives;
    const answers = asked === 0 ? 'filters not used' : `filters said no ${times(filterNegatives)} and maybe ${times(asked - filterNegatives)}, ${count(filterFalsePositives)} of them falsely`;
    const unread = filtersUnread === 0 ? '' : `, ${counted(filtersUnread, 'lookup')} without filters, which had not been read`;
    note(`${name}: ${read}; ${counted(blockReads, 'data block')} read; ${answers}${unread}`);
  }

  #file<T extends Source | SyncSource | FolderFile | SyncFolderFile>(file: T): T {
    const counting = new Set<PropertyKey>(['read', 'readSync', 'readInto', 'readAtOnce']);
    return new Proxy(file, {
      get: (target, member) => {
        const value = boundMember(target, member);
        if (!counting.has(member) || typeof value !== 'function') return value;
        return (offset: number, ...rest: [number | Uint8Array, ...unknown[]]): unknown => {
          const result: unknown = (value as (...args: unknown[]) => unknown)(offset, ...rest);
          const [length] = rest;
          // Reads that `readAtOnce` leaves to `read` are counted there.
          if (result === undefined) return result;
          if (target.isRemote !== true) {
            this.#reads++;
            this.#bytes += typeof length === 'number' ? length : length.length;
          }
          return result;
        };
      },
    });
  }
}

/** A member bound to the target, because a proxy does not have the private fields of its target. */
function boundMember(target: object, member: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, member, target);
  return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
}

function times(number: number): string {
  return number === 1 ? 'once' : `${count(number)} times`;
}
