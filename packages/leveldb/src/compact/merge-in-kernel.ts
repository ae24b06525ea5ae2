import { Pacer } from '../folder/pacer.js';
import type { CompactedTables, CompactionPlan } from '../folder/table-thread.js';
import { LevelBlocks } from '../table/level-blocks.js';
import { CompactionWalk } from './compaction-walk.js';
import { type CompactionContext, sortedInputs } from './compaction-context.js';
import { AT_BOUND, AT_DELETION, BLOCK_ENDED, BLOCK_FULL, blockShapeOf, DONE, KEYS_FULL, LINED_UP, MergeKernel, NEEDS_BLOCK, NEEDS_TABLE } from './merge-kernel.js';
import { OutputTables } from './output-tables.js';

/**
 * Merges the inputs of a compaction, which are in bytewise order, into new tables.
 *
 * @returns undefined when the kernel cannot do it. Unreferenced tables may then be left in the folder.
 */
export async function mergeInKernel(plan: CompactionPlan, context: CompactionContext): Promise<CompactedTables | undefined> {
  const shape = blockShapeOf(context.building);
  if (shape === undefined || !context.damage.isStrict) return undefined;
  const kernel = MergeKernel.take();
  if (kernel === undefined) return undefined;
  try {
    const inputs = sortedInputs(plan);
    if (inputs.length > kernel.maxSources) return undefined;
    const walk = new CompactionWalk(plan, context.order, context.maxFileSize);
    kernel.startMerge(context.oldestSequence, walk.hasTablesBelow, shape);
    const sources = inputs.map((files) => new LevelBlocks(files, context.tables, context.readsAtOnce));
    const made = await new KernelMerge(kernel, sources, walk, context).run();
    if (made !== undefined && context.onTable !== undefined) for (const table of made.tables) context.onTable(table);
    return made;
  } finally {
    kernel.giveBack();
  }
}

/** The number of blocks taken and written between two checks of the clock. */
const BLOCKS_PER_LOOK = 8;

class KernelMerge {
  readonly #kernel: MergeKernel;
  readonly #sources: readonly LevelBlocks[];
  readonly #walk: CompactionWalk;
  // V8 would optimize what uses the context again for that of each compaction, as it is made by spreads.
  readonly #read: CompactionContext['read'];
  readonly #interlude: CompactionContext['interlude'];
  readonly #outputs: OutputTables;
  readonly #pacer = new Pacer(BLOCKS_PER_LOOK);

  constructor(kernel: MergeKernel, sources: readonly LevelBlocks[], walk: CompactionWalk, context: CompactionContext) {
    this.#kernel = kernel;
    this.#sources = sources;
    this.#walk = walk;
    this.#read = context.read;
    this.#interlude = context.interlude;
    this.#outputs = new OutputTables(context, undefined);
  }

  async run(): Promise<CompactedTables | undefined> {
    try {
      if (!(await this.#lineUp()) || !(await this.#merge())) return undefined;
      await this.#endBlock();
      return { tables: await this.#outputs.end(), ...this.#kernel.merged };
    } finally {
      for (const source of this.#sources) source.close();
      await this.#outputs.abandon();
    }
  }

  /** Moves each source to its first entry. @returns false when the kernel declines a block. */
  async #lineUp(): Promise<boolean> {
    const kernel = this.#kernel;
    for (const [i, source] of this.#sources.entries()) {
      let state = BLOCK_ENDED;
      while (state === BLOCK_ENDED) {
        if (!source.next()) await this.#settle(source);
        if (source.contents === undefined) break;
        if (!kernel.supply(i, source.contents)) return false;
        state = kernel.line(i);
      }
      if (state !== LINED_UP && state !== BLOCK_ENDED) return false;
    }
    return true;
  }

  /** @returns false when the kernel declines an entry or a block. */
  async #merge(): Promise<boolean> {
    const kernel = this.#kernel;
    kernel.askAtNext();
    for (;;) {
      switch (kernel.merge()) {
        case DONE:
          return true;
        case BLOCK_FULL: {
          const waiting = this.#endBlock();
          if (waiting !== undefined) await waiting;
          const pause = this.#pause();
          if (pause !== undefined) await pause;
          break;
        }
        case NEEDS_BLOCK: {
          const { first } = kernel;
          const source = this.#sources[first]!;
          source.pass(kernel.enteredOf(first));
          if (!kernel.offerStored(source.nextStored)) {
            if (!source.next()) await this.#settle(source);
            if (source.contents === undefined) kernel.leave();
            else if (!kernel.supply(first, source.contents)) return false;
          }
          const pause = this.#pause();
          if (pause !== undefined) await pause;
          break;
        }
        case NEEDS_TABLE:
          await this.#outputs.begin();
          kernel.hasTable = true;
          break;
        case AT_BOUND:
          if (this.#walk.stopsBefore(kernel)) await this.#cut();
          if (!kernel.askPast(this.#walk.bound)) return false;
          break;
        case AT_DELETION:
          kernel.decide(this.#walk.isBaseLevelFor(kernel));
          break;
        case KEYS_FULL:
          kernel.passKeys(this.#outputs.table!);
          break;
        default:
          return false;
      }
    }
  }

  /** Writes the block, and finishes the table if that is due. Undefined when there is nothing to wait for. */
  #endBlock(): Promise<void> | undefined {
    const { table } = this.#outputs;
    if (table === undefined) return undefined;
    if (!this.#kernel.passBlock(table)) return undefined;
    return this.#outputs.written(table)?.then(() => {
      this.#kernel.hasTable = this.#outputs.table !== undefined;
    });
  }

  /** Finishes the table before the current key. */
  async #cut(): Promise<void> {
    await this.#endBlock();
    const { table } = this.#outputs;
    if (table === undefined) return;
    await this.#outputs.finish(table);
    this.#kernel.hasTable = false;
  }

  async #settle(source: LevelBlocks): Promise<void> {
    const settling = this.#read(source.settle());
    if (settling !== undefined) await settling;
  }

  #pause(): Promise<void> | undefined {
    if (this.#pacer.isDue()) return this.#pacer.pause().then(() => this.#interlude());
    return this.#interlude();
  }
}
