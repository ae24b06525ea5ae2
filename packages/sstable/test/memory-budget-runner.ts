// memory-budget.test.ts runs this in a separate process. It reads tables of a few hundred bytes whose blocks expand to many
// megabytes. After each action it prints a line with the outcome and the peak memory beyond what the process had at first.
import process from 'node:process';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { type Codec, CorruptionError, MemorySource, SyncTable, Table } from '@bloom/sstable';
import { type BlockHandle, encodeBlockHandle } from '../src/format/block-handle.js';
import { encodeFooter } from '../src/format/footer.js';
import { blockOf } from './assemble-table.js';
import { sealed } from './damage.js';
import { utf8 } from './entries.js';

/** Stored as a length, the number of times that the last entry is repeated, the first entry without its key of zeros, and the last entry. */
const claims: Codec = {
  type: 9,
  name: 'claims',
  decompress(compressed, maxBytes) {
    const view = new DataView(compressed.buffer, compressed.byteOffset);
    const [byteLength, keyLength, firstLength, lastLength] = [0, 4, 8, 12].map((at) => view.getUint32(at)) as [number, number, number, number];
    if (byteLength > maxBytes) throw new RangeError(`${byteLength} bytes`);
    // Every byte is written, as a decompressor does, because untouched pages take no memory.
    const contents = new Uint8Array(byteLength).fill(0);
    contents.set(compressed.subarray(16, 16 + firstLength));
    const last = compressed.subarray(16 + firstLength);
    for (let at = firstLength + keyLength; at < byteLength - 8; at += lastLength) contents.set(last, at);
    // One restart.
    contents[byteLength - 4] = 1;
    return contents;
  },
};

const [limit, ...cases] = process.argv.slice(2) as [string, ...string[]];
const maxBlockBytes = Number(limit);

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}

/** A block of empty entries, or of a first key of a third of it and entries that share all of that key. */
function claim(kind: string): Uint8Array {
  const keyLength = kind === 'empty entries' ? 0 : Math.floor(maxBlockBytes / 3);
  const first = [0, ...varint(keyLength), 0];
  const last = [...varint(keyLength), 0, 0];
  const repeated = Math.floor((maxBlockBytes - 8 - first.length - keyLength) / last.length);
  const payload = Uint8Array.of(...new Uint8Array(16), ...first, ...last);
  const view = new DataView(payload.buffer);
  const numbers = [first.length + keyLength + repeated * last.length + 8, keyLength, first.length, last.length];
  numbers.forEach((number, i) => view.setUint32(i * 4, number));
  return payload;
}

function makeTable(part: string, kind: string): MemorySource {
  const blocks: Uint8Array[] = [];
  let length = 0;
  const append = (name: string, good: Uint8Array): BlockHandle => {
    const payload = name === part ? claim(kind) : good;
    blocks.push(sealed(payload, name === part ? claims.type : 0));
    const handle = { offset: length, size: payload.length };
    length += payload.length + 5;
    return handle;
  };
  const data = append('data', blockOf([[utf8('a'), utf8('1')]]));
  // One filter for all blocks, which every key passes.
  const filter = append('filter', Uint8Array.of(0xff, 31, 0, 0, 0, 0, 2, 0, 0, 0, 11));
  const metaindex = append('metaindex', blockOf([[utf8('filter.leveldb.BuiltinBloomFilter2'), encodeBlockHandle(filter)]]));
  const index = append('index', blockOf([[utf8('z'), encodeBlockHandle(data)]]));
  return new MemorySource(new Uint8Array(Buffer.concat([...blocks, encodeFooter({ metaindex, index })])));
}

const options = { codecs: [claims], maxBlockBytes, cache: null };
const keys = [utf8('a'), utf8(''), utf8('b')];

async function count(items: Iterable<unknown> | AsyncIterable<unknown>): Promise<number> {
  let number = 0;
  for await (const _ of items) number++;
  return number;
}

const actions: Record<string, (source: MemorySource) => unknown> = {
  open: (source) => SyncTable.open(source, options).filterStatus.state,
  get: (source) => SyncTable.open(source, options).get(keys[0]!)?.length ?? 'absent',
  getMany: async (source) => (await (await Table.open(source, options)).getMany(keys)).length,
  scan: (source) => count(SyncTable.open(source, options).entries({ limit: 20 })),
  'scan with promises': async (source) => count((await Table.open(source, options)).entries({ limit: 20 })),
  'reverse scan': (source) => count(SyncTable.open(source, options).entries({ limit: 20, reverse: true })),
  'reverse scan with promises': async (source) => count((await Table.open(source, options)).entries({ limit: 20, reverse: true })),
};

const before = peakMemory();
for (const name of cases) {
  const [part, kind, action] = name.split(': ') as [string, string, string];
  const start = process.cpuUsage();
  let outcome: unknown;
  try {
    outcome = await actions[action]!(makeTable(part, kind));
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    outcome = error.code;
  }
  const { user, system } = process.cpuUsage(start);
  const bytes = peakMemory() - before;
  process.stdout.write(`${JSON.stringify({ name, outcome, bytes, milliseconds: Math.round((user + system) / 1000) })}\n`);
  // Garbage of one case must not count for the next one.
  globalThis.gc!();
}
