/** A class that extends the level: sublevels as properties, one database for each path, compaction and repair. */
import type { AbstractSublevel } from 'abstract-level';
import { BloomLevel as ClassicLevel, type DatabaseOptions } from '@bloom/level';

type Documents = AbstractSublevel<PackDatabase, string | Buffer | Uint8Array, string, Record<string, unknown>>;

export class PackDatabase extends ClassicLevel<string, Record<string, unknown>> {
  static readonly #connected = new Map<string, PackDatabase>();
  readonly sublevels: Readonly<Record<string, Documents>>;
  #batches = 0;

  constructor(location: string, options: DatabaseOptions<string, Record<string, unknown>> & { readonly names?: readonly string[] } = {}) {
    const { names = ['actors', 'items'], ...rest } = options;
    super(location, { ...rest, valueEncoding: 'json' });
    this.sublevels = Object.fromEntries(names.map((name) => [name, this.sublevel<string, Record<string, unknown>>(name, { valueEncoding: 'json' })]));
  }

  static async connect(path: string): Promise<PackDatabase> {
    const db = this.#connected.get(path) ?? new PackDatabase(path);
    this.#connected.set(path, db);
    await db.open();
    return db;
  }

  override async close(): Promise<void> {
    PackDatabase.#connected.delete(this.location);
    await super.close();
  }

  get batches(): number {
    return this.#batches;
  }

  async compactFull(): Promise<void> {
    const first = (await this.keys({ limit: 1, fillCache: false }).all())[0];
    const last = (await this.keys({ limit: 1, reverse: true, fillCache: false }).all())[0];
    if (first !== undefined && last !== undefined) await this.compactRange(first, last, { keyEncoding: 'utf8' });
    this.#batches++;
  }

  static async rebuild(path: string): Promise<void> {
    await ClassicLevel.repair(path);
  }
}
