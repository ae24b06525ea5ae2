/** An index of words: a class of levels as an option, arrays as keys in an encoding of one's own. */
import type { AbstractLevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

type Key = readonly (string | number)[];
type LevelClass = new (name: string, options: { keyEncoding: any; valueEncoding: 'json' }) => AbstractLevel<any, Key, any>;

const KEYS = {
  name: 'words',
  format: 'utf8' as const,
  encode: (key: Key): string => key.join('\u0000'),
  decode: (text: string): Key => text.split('\u0000'),
};

export class InvertedIndex {
  readonly db: AbstractLevel<any, Key, any>;

  constructor(name: string, Level: LevelClass = ClassicLevel) {
    this.db = new Level(name, { keyEncoding: KEYS, valueEncoding: 'json' });
  }

  async add(word: string, id: number): Promise<void> {
    const found: number[] = (await this.db.get(['IDX', word])) ?? [];
    await this.db.put(['IDX', word], [...new Set([...found, id])]);
  }

  async range(from: string, to: string): Promise<[Key, number[]][]> {
    const all: [Key, number[]][] = [];
    for await (const [key, ids] of this.db.iterator<Key, number[]>({ gte: ['IDX', from], lte: ['IDX', to] })) all.push([key, ids]);
    return all;
  }

  async dump(): Promise<void> {
    await this.db.clear({ gte: ['IDX'], lt: ['IDY'] });
  }
}
