import { BlockBuilder } from '../src/format/block-builder.js';
import { type BlockHandle, encodeBlockHandle } from '../src/format/block-handle.js';
import { encodeFooter } from '../src/format/footer.js';
import { type Codec, NO_COMPRESSION } from '../src/format/codec.js';
import { BLOCK_TRAILER_LENGTH, compressed, putStoredBlock } from '../src/format/stored-block.js';

/** The parts of a table: contents of blocks, valid or not. */
export interface TableParts {
  /** Data blocks, each with its index key. */
  readonly data?: readonly (readonly [separator: Uint8Array, contents: Uint8Array])[];
  readonly filter?: { readonly name: string; readonly contents: Uint8Array };
  /** Replaces the metaindex that leads to the filter. */
  readonly metaindex?: Uint8Array;
  /** Replaces the index that leads to the data. */
  readonly index?: Uint8Array;
}

/** `contents` as stored, including the trailer. */
export function encodeStoredBlock(contents: Uint8Array, codec: Codec | undefined): Uint8Array {
  const smaller = compressed(contents, codec);
  const stored = smaller ?? contents;
  const block = new Uint8Array(stored.length + BLOCK_TRAILER_LENGTH);
  putStoredBlock(block, 0, stored, smaller === undefined ? NO_COMPRESSION : codec!.type);
  return block;
}

/** A block of `entries`, all of them restarts. */
export function blockOf(entries: Iterable<readonly [Uint8Array, Uint8Array]>): Uint8Array {
  const builder = new BlockBuilder(1);
  for (const [key, value] of entries) builder.add(key, value);
  return builder.finish().slice();
}

/** A file with correct checksums and a correct footer, whatever its blocks contain. */
export function assembleTable({ data = [], filter, metaindex, index }: TableParts): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const append = (contents: Uint8Array): BlockHandle => {
    const stored = encodeStoredBlock(contents, undefined);
    const handle = { offset: length, size: stored.length - BLOCK_TRAILER_LENGTH };
    parts.push(stored);
    length += stored.length;
    return handle;
  };
  const indexEntries = data.map(([separator, contents]) => [separator, encodeBlockHandle(append(contents))] as const);
  const metaindexEntries = filter
    ? [[new TextEncoder().encode(`filter.${filter.name}`), encodeBlockHandle(append(filter.contents))] as const]
    : [];
  const metaindexHandle = append(metaindex ?? blockOf(metaindexEntries));
  const indexHandle = append(index ?? blockOf(indexEntries));
  parts.push(encodeFooter({ metaindex: metaindexHandle, index: indexHandle }));
  return new Uint8Array(Buffer.concat(parts));
}
