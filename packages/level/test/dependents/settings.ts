/** A level of any values as the property of a program, opened in its constructor. */
import { BloomLevel as ClassicLevel } from '@bloom/level';

export class Settings {
  private db: ClassicLevel<string, any> | null = null;
  private readonly ready: Promise<void>;

  constructor(folder: string) {
    this.db = new ClassicLevel(folder, { valueEncoding: 'json', createIfMissing: true, errorIfExists: false, cacheSize: 1 << 20 });
    this.ready = this.db.open();
  }

  async get<T>(key: string, fallback: T): Promise<T> {
    await this.ready;
    return ((await this.db?.get(key)) as T | undefined) ?? fallback;
  }

  getNow<T>(key: string): T | undefined {
    return this.db?.getSync(key);
  }

  async set(values: Record<string, unknown>): Promise<void> {
    await this.db?.batch(Object.entries(values).map(([key, value]) => ({ type: 'put' as const, key, value })), { sync: true });
  }

  async dispose(): Promise<void> {
    const { db } = this;
    this.db = null;
    await db?.close();
  }
}
