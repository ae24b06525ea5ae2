/** Iterators by their type names: `seek`, `nextv`, `all`, their limits, and a loop over `next`. */
import { BloomLevel as ClassicLevel, type Iterator, type KeyIterator, type ValueIterator } from '@bloom/level';

type Level = ClassicLevel<string, Buffer>;

export class Cursor {
  private readonly iterator: Iterator<Level, string, Buffer>;
  private readonly keys: KeyIterator<Level, string>;
  private readonly values: ValueIterator<Level, string, Buffer>;

  constructor(readonly db: Level) {
    this.iterator = db.iterator({ highWaterMarkBytes: 1 << 16, fillCache: true });
    this.keys = db.keys();
    this.values = db.values({ limit: 10 });
  }

  async at(key: string): Promise<Buffer | undefined> {
    this.iterator.seek(key, { keyEncoding: 'utf8' });
    const entry: [string, Buffer] | undefined = await this.iterator.next();
    return entry?.[0] === key ? entry[1] : undefined;
  }

  async page(size: number): Promise<{ keys: string[]; bytes: number; left: number }> {
    const keys = await this.keys.nextv(size);
    const values: Buffer[] = await this.values.all();
    return { keys, bytes: values.reduce((sum, { byteLength }) => sum + byteLength, 0), left: this.values.limit - this.values.count };
  }

  async close(): Promise<void> {
    await Promise.all([this.iterator.close(), this.keys.close(), this.values.close()]);
  }
}

export async function total(db: Level): Promise<number> {
  const iterator = db.iterator<string, Uint8Array>({ valueEncoding: 'view', keys: false });
  let sum = 0;
  for (let entry = await iterator.next(); entry !== undefined; entry = await iterator.next()) sum += entry[1].byteLength;
  await iterator.close();
  return sum;
}

export const open = (path: string): Cursor => new Cursor(new ClassicLevel<string, Buffer>(path, { valueEncoding: 'buffer' }));
