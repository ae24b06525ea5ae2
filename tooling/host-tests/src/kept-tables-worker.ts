// A Cloudflare worker that keeps its tables and its database from one request to the next, as programs do to save their
// opening. Each request says what to do, and with which of them, in its address; the answer is what came of it, as JSON.
import { DatabaseReader } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { type Source, Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';

/** The parts of R2's binding that are used. */
interface Bucket {
  put(key: string, value: ArrayBuffer): Promise<unknown>;
  head(key: string): Promise<{ readonly size: number } | null>;
  get(key: string, options: { readonly range: { readonly offset: number; readonly length: number } }): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
}

interface Environment {
  readonly BUCKET: Bucket;
  /** The address of the files. */
  readonly FILES: string;
}

/** An object in R2 as the source of a table. */
class R2Source implements Source {
  readonly name: string;
  readonly byteLength: number;
  readonly #bucket: Bucket;

  private constructor(bucket: Bucket, key: string, byteLength: number) {
    this.#bucket = bucket;
    this.name = key;
    this.byteLength = byteLength;
  }

  static async open(bucket: Bucket, key: string): Promise<R2Source> {
    const object = await bucket.head(key);
    if (object === null) throw new Error(`${key} is not there`);
    return new R2Source(bucket, key, object.size);
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const object = await this.#bucket.get(this.name, { range: { offset, length } });
    if (object === null) throw new Error(`${this.name} is gone`);
    return new Uint8Array(await object.arrayBuffer());
  }
}

const tables = new Map<string, Table>();
const databases = new Map<string, DatabaseReader>();
/** Whose requests have gone without their answers. */
const left: Promise<unknown>[] = [];

const text = (bytes: Uint8Array | undefined): string | null => (bytes === undefined ? null : new TextDecoder().decode(bytes));
const bytes = (key: string): Uint8Array => new TextEncoder().encode(key);

/** The one that is kept, or a new one, which is kept once it is open. */
async function kept<T>(all: Map<string, T>, name: string, open: () => Promise<T>): Promise<T> {
  const opened = all.get(name) ?? (await open());
  all.set(name, opened);
  return opened;
}

async function work(address: URL, { BUCKET, FILES }: Environment): Promise<unknown> {
  const parameters = address.searchParams;
  const from = parameters.get('from')!;
  const keys = parameters.getAll('key').map(bytes);
  const ms = Number(parameters.get('abort') ?? 0);
  const signal = parameters.has('abort') ? AbortSignal.timeout(ms) : undefined;
  if (from === 'database') {
    const database = await kept(databases, from, () => DatabaseReader.open(new HttpFolder(`${FILES}/database`, { tailBytes: 4096 }), { cache: null }));
    switch (address.pathname) {
      case '/get':
        return text(await database.get(keys[0]!, { signal }));
      case '/many':
        return (await database.getMany(keys, { signal })).map(text);
      case '/scan': {
        const found: string[] = [];
        for await (const [key] of database.entries({ signal })) found.push(text(key)!);
        return found;
      }
      case '/refresh':
        return database.refresh({ signal });
      case '/close':
        databases.delete(from);
        await database.close();
        return 'closed';
    }
  }
  const open = async (): Promise<Table> => {
    const source = from === 'r2' ? await R2Source.open(BUCKET, 'table.ldb') : await HttpSource.open(`${FILES}/table.ldb`, { retryDelayMs: 10, tailBytes: 4096 });
    // Without a cache each lookup is a read, and with a small tail no block is read when the table is opened.
    return Table.open(source, { cache: null, tailBytes: 4096, readAheadBytes: 2 ** 16 });
  };
  if (address.pathname === '/put') {
    const response = await fetch(`${FILES}/table.ldb`);
    await BUCKET.put('table.ldb', await response.arrayBuffer());
    return 'put';
  }
  const table = await kept(tables, from, open);
  switch (address.pathname) {
    case '/get':
      return text(await table.get(keys[0]!, { signal }));
    // Calls of one turn for one block.
    case '/together':
      return (await Promise.all(keys.map((key) => table.get(key, { signal })))).map(text);
    case '/many':
      return (await table.getMany(keys, { signal })).map(text);
    case '/scan': {
      const found: string[] = [];
      for await (const [key] of table.entries({ signal })) found.push(text(key)!);
      return found;
    }
    case '/close':
      tables.delete(from);
      await table.close();
      return 'closed';
    default:
      throw new Error(`no such work: ${address.pathname}`);
  }
}

async function outcome(address: URL, environment: Environment): Promise<unknown> {
  try {
    return { value: await work(address, environment) };
  } catch (error) {
    return { error: String(error), code: (error as { readonly code?: unknown }).code };
  }
}

export default {
  async fetch(request: { readonly url: string }, environment: Environment): Promise<Response> {
    const address = new URL(request.url);
    const working = outcome(address, environment);
    // Ends the request while its reads are under way: they never settle then.
    if (address.searchParams.has('leave')) {
      left.push(working);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return new Response(JSON.stringify({ left: left.length }));
    }
    return new Response(JSON.stringify(await working));
  },
};
