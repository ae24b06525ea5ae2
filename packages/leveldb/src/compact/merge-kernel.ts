/**
 * The inner loop of compactions and flushes in WebAssembly, `assembly/merge-kernel.ts`: merging, dropping, and building data blocks.
 *
 * It returns to its caller at least once for each block. Whatever it cannot do, or finds damaged, it declines: the caller then does the
 * whole work again without it, and gets that path's result or error.
 */
import { instantiateKernel } from '@bloom/bytes/internal';
import type { TableBuilderOptions } from '@bloom/sstable';
import { BlockKernel, type BlockKernelExports, type Constant } from '../cursor/block-kernel.js';
import type { CompactedTables, MemtableArrays } from '../folder/table-thread.js';
import { LINKS } from '../memtable/memtable.js';
import type { TableFile } from '../table/table-file.js';
import { MERGE_KERNEL } from './merge-kernel.wasm.js';

// Why the kernel returns. The numbers are those of `assembly/merge-kernel.ts`. Any other number means that it declines the current entry or block.
/** All entries are merged. */
export const DONE = 0;
/** The block is full, and `passBlock` takes it. */
export const BLOCK_FULL = 1;
/** The first source has no further entry in its block. */
export const NEEDS_BLOCK = 2;
/** An entry is to be written, and no table has been begun. */
export const NEEDS_TABLE = 3;
/** The current key is one at which the caller asked to be called. */
export const AT_BOUND = 4;
/** The caller decides whether the current deletion is dropped. */
export const AT_DELETION = 5;
/** `passKeys` must be called first. */
export const KEYS_FULL = 6;

/** The state of a source once it has its first block. */
export const LINED_UP = 0;
export const BLOCK_ENDED = 1;

/** At which keys to return to the caller: at none, at the first key after a bound, at the next key. */
const NEVER = 0;
const PAST_BOUND = 1;
const AT_NEXT = 2;

/** With a larger `blockSize` there is no kernel: a block that is nearly full must have room for one more entry, and the kernel has 1 MiB. */
const MAX_BLOCK_SIZE = 2 ** 18;
/** From this `maxBlockBytes` on, the kernel need not check whether a block exceeds it. */
const MIN_BLOCK_LIMIT = 2 ** 22;
/** A larger memtable is written without a kernel. */
const MAX_WALKED_BYTES = 2 ** 24;

/** How many kernels are kept for later work: a compaction's, and that of a flush in the middle of it. */
const MAX_IDLE = 2;
/** The memory of a new kernel. */
const KEPT_BYTES = 10 * 2 ** 20;

interface KernelExports extends BlockKernelExports {
  readonly ADDED_AT: Constant;
  readonly BLOCK_AT: Constant;
  readonly BOUND_AT: Constant;
  readonly KEYS_AT: Constant;
  readonly OFFSETS_AT: Constant;
  start(drops: number, oldestSequence: bigint, asksDeletions: number, blockSize: number, restartInterval: number, hasFilter: number): void;
  line(source: number): number;
  merge(): number;
  walk(nodes: number, nodesEnd: number, arena: number, arenaEnd: number, links: number): number;
  setBound(mode: number, length: number): void;
  setTable(isThere: number): void;
  decide(isDropped: number): void;
  endOfBlock(): number;
  clearKeys(): void;
  tell(): void;
}

export interface BlockShape {
  readonly blockSize: number;
  readonly restartInterval: number;
  readonly hasFilter: boolean;
}

/** The format of the blocks that the kernel would build; undefined when it cannot build them. */
export function blockShapeOf({ blockSize, blockRestartInterval, filterPolicy, maxBlockBytes }: TableBuilderOptions): BlockShape | undefined {
  if (blockSize === undefined || blockRestartInterval === undefined || filterPolicy === undefined || maxBlockBytes === undefined) return undefined;
  if (blockSize > MAX_BLOCK_SIZE || maxBlockBytes < MIN_BLOCK_LIMIT || blockRestartInterval > 0x7fff_ffff) return undefined;
  return { blockSize, restartInterval: blockRestartInterval, hasFilter: filterPolicy !== null };
}

/** Kernels that no job uses. */
const idle: MergeKernel[] = [];
/** Whether the host has refused a kernel. */
let isRefused = false;

/** A kernel, for one job at a time. Its memory has 10 MiB, of which a compaction touches less than one, and grows to at most 32 MiB. */
export class MergeKernel extends BlockKernel<KernelExports> {
  /** Where the current key is in `keyBytes`. The walks of a compaction can use the kernel as an entry. */
  keyStart = 0;
  keyEnd = 0;
  /** Addresses that are needed for each block. Reading one from the kernel's exports takes longer than from here. */
  readonly #places: { readonly added: number; readonly block: number };
  /** Where the memtable is: its nodes and its arena, each with its end. */
  #walked: readonly [nodes: number, nodesEnd: number, arena: number, arenaEnd: number] = [0, 0, 0, 0];

  private constructor(kernel: KernelExports) {
    super(kernel, Infinity);
    this.#places = { added: kernel.ADDED_AT.value, block: kernel.BLOCK_AT.value };
  }

  /** A kernel, which the caller must return; undefined where the host allows none. */
  static take(): MergeKernel | undefined {
    const kept = idle.pop();
    if (kept !== undefined || isRefused) return kept;
    const exports = instantiateKernel<KernelExports>(MERGE_KERNEL);
    isRefused = exports === undefined;
    return exports && new MergeKernel(exports);
  }

  /** Keeps the kernel for later work, unless its memory has grown. */
  giveBack(): void {
    if (idle.length < MAX_IDLE && this.keyBytes.length <= KEPT_BYTES) idle.push(this);
  }

  get keyBytes(): Uint8Array {
    return this.memory.bytes;
  }

  /** Starts a merge, which drops entries that are not visible from `oldestSequence` on. */
  startMerge(oldestSequence: bigint, asksDeletions: boolean, shape: BlockShape): void {
    this.#start(true, oldestSequence, asksDeletions, shape);
  }

  /** Starts a walk over a copy of a memtable. @returns false when the memtable is too large. */
  startWalk({ arena, nodes }: MemtableArrays, shape: BlockShape): boolean {
    if (arena.length + nodes.byteLength > MAX_WALKED_BYTES) return false;
    this.#start(false, 0n, false, shape);
    const arenaAt = this.memory.allocate(arena.length);
    const nodesAt = arenaAt === undefined ? undefined : this.memory.allocate(nodes.length * 4);
    if (arenaAt === undefined || nodesAt === undefined) return false;
    this.keyBytes.set(arena, arenaAt);
    this.memory.words.set(nodes, nodesAt / 4);
    this.#walked = [nodesAt, nodesAt + nodes.length * 4, arenaAt, arenaAt + arena.length];
    return true;
  }

  #start(drops: boolean, oldestSequence: bigint, asksDeletions: boolean, { blockSize, restartInterval, hasFilter }: BlockShape): void {
    this.clearSources();
    this.kernel.start(Number(drops), oldestSequence, Number(asksDeletions), blockSize, restartInterval, Number(hasFilter));
  }

  /** Moves a source to the first entry of its first block. */
  line(source: number): number {
    return this.kernel.line(source);
  }

  /** Continues the merge. @returns why it stopped. */
  merge(): number {
    return this.#stop(this.kernel.merge());
  }

  /** Continues the walk. @returns why it stopped. */
  walk(): number {
    return this.#stop(this.kernel.walk(...this.#walked, LINKS));
  }

  #stop(why: number): number {
    if (why !== AT_BOUND && why !== AT_DELETION) return why;
    this.kernel.tell();
    this.keyStart = this.#result(0);
    this.keyEnd = this.keyStart + this.#result(1);
    return why;
  }

  /** Makes the kernel return at the next key. */
  askAtNext(): void {
    this.kernel.setBound(AT_NEXT, 0);
  }

  /** Makes the kernel return at the next key after `bound`; at none if it is undefined. @returns false when the kernel cannot do that. */
  askPast(bound: Uint8Array | undefined): boolean {
    if (bound === undefined) {
      this.kernel.setBound(NEVER, 0);
      return true;
    }
    if (bound.length < 8 || bound.length > this.kernel.MAX_KEY.value) return false;
    this.keyBytes.set(bound, this.kernel.BOUND_AT.value);
    this.kernel.setBound(PAST_BOUND, bound.length);
    return true;
  }

  set hasTable(hasTable: boolean) {
    this.kernel.setTable(Number(hasTable));
  }

  /** Sets whether the current deletion is dropped. */
  decide(isDropped: boolean): void {
    this.kernel.decide(Number(isDropped));
  }

  /** Passes the collected keys to a table, for its filter. */
  passKeys(table: TableFile): void {
    this.kernel.tell();
    const length = this.#result(2);
    if (length === 0) return;
    const { KEYS_AT, OFFSETS_AT } = this.kernel;
    const { bytes, words } = this.memory;
    table.addFilterKeys({ bytes: bytes.subarray(KEYS_AT.value), offsets: words.subarray(OFFSETS_AT.value / 4), length });
    this.kernel.clearKeys();
  }

  /** Ends the block and passes it to a table. @returns false when it has no entries. */
  passBlock(table: TableFile): boolean {
    this.passKeys(table);
    const length = this.kernel.endOfBlock();
    if (length === 0) return false;
    const start = this.#places.block;
    const firstKeyStart = this.#result(0);
    const lastKeyStart = this.#places.added;
    table.addBlock({
      bytes: this.keyBytes,
      start,
      end: start + length,
      firstKeyStart,
      firstKeyEnd: firstKeyStart + this.#result(1),
      lastKeyStart,
      lastKeyEnd: lastKeyStart + this.#result(2),
      entries: this.#result(3),
      entryBytes: this.#result(4),
    });
    return true;
  }

  get merged(): Omit<CompactedTables, 'tables'> {
    this.kernel.tell();
    return { entriesRead: this.#result(3), shadowedDropped: this.#result(4), deletionsDropped: this.#result(5) };
  }

  #result(i: number): number {
    return this.memory.words[this.resultAt + i]!;
  }
}
