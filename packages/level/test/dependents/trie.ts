/** A database interface with encodings by name, as state tries have: every call with its own encodings. */
import type { AbstractLevel } from 'abstract-level';
import { type BatchOperation, BloomLevel as ClassicLevel } from '@bloom/level';

type Encoding = 'utf8' | 'view' | 'json' | 'number';
const ENCODINGS: Readonly<Record<Encoding, string>> = { utf8: 'utf8', view: 'view', json: 'json', number: 'json' };

interface EncodingOptions {
  keyEncoding?: Encoding;
  valueEncoding?: Encoding;
}

type Operation = { type: 'put'; key: string | Uint8Array; value: string | Uint8Array; opts?: EncodingOptions } | { type: 'del'; key: string | Uint8Array; opts?: EncodingOptions };
type Level = AbstractLevel<string | Uint8Array, string | Uint8Array, string | Uint8Array>;

const encodingsOf = ({ keyEncoding, valueEncoding }: EncodingOptions = {}): { keyEncoding: string; valueEncoding: string } => ({
  keyEncoding: ENCODINGS[keyEncoding ?? 'view'],
  valueEncoding: ENCODINGS[valueEncoding ?? 'view'],
});

export class TrieDatabase {
  private readonly level: Level;

  constructor(level?: Level | null) {
    this.level = level ?? (new ClassicLevel<string | Uint8Array, string | Uint8Array>('trie'));
  }

  get(key: string | Uint8Array, options?: EncodingOptions): Promise<string | Uint8Array | undefined> {
    return this.level.get(key, encodingsOf(options));
  }

  async batch(operations: Operation[]): Promise<void> {
    const all: BatchOperation<Level, string | Uint8Array, string | Uint8Array>[] = [];
    for (const { opts, ...operation } of operations) all.push({ ...operation, ...encodingsOf(opts) });
    await this.level.batch(all);
  }

  shallowCopy(): TrieDatabase {
    return new TrieDatabase(this.level);
  }
}
