/** Documents with revisions in sublevels, changed in one batch with an operation's own sublevel and encodings. */
import type { AbstractSublevel } from 'abstract-level';
import { type ChainedBatch, BloomLevel as ClassicLevel } from '@bloom/level';

interface Revision {
  readonly seq: number;
  readonly deleted?: boolean;
}

type Level = ClassicLevel;
type Revisions = AbstractSublevel<Level, string | Buffer | Uint8Array, string, Revision>;
type Attachments = AbstractSublevel<Level, string | Buffer | Uint8Array, string, Buffer>;

const levels = new Map<string, Level>();

export class Documents {
  private readonly db: Level;
  private readonly revisions: Revisions;
  private readonly attachments: Attachments;

  constructor(name: string) {
    const found = levels.get(name);
    this.db = found ?? new ClassicLevel(name);
    if (found === undefined) levels.set(name, this.db);
    this.revisions = this.db.sublevel<string, Revision>('document-store', { valueEncoding: 'json' });
    this.attachments = this.db.sublevel<string, Buffer>('attach-store', { valueEncoding: 'buffer' });
  }

  async change(id: string, revision: Revision, data: Buffer): Promise<void> {
    const batch: ChainedBatch<Level, string, string> = this.db.batch();
    batch.put(id, revision, { sublevel: this.revisions }).put(id, data, { sublevel: this.attachments });
    batch.put('last', String(revision.seq)).del('pending');
    await batch.write({ sync: true });
  }

  async changeAtOnce(id: string, revision: Revision): Promise<void> {
    await this.db.batch<string, string | Revision>([
      { type: 'put', sublevel: this.revisions, key: id, value: revision },
      { type: 'put', key: 'last', value: String(revision.seq) },
    ], { sync: true });
  }

  async all(): Promise<Revision[]> {
    return this.revisions.values({ reverse: true, limit: 100 }).all();
  }

  static async destroy(name: string): Promise<void> {
    await levels.get(name)?.close();
    levels.delete(name);
    await ClassicLevel.destroy(name);
  }
}
