import type { Signal } from '@bloom/bytes';
import { onAbort } from './on-abort.js';
import type { ReadGate } from './read-gate.js';
import type { ByteRange } from './reading.js';

/** Blocks that are close to each other, and the range of the file that contains them. */
export interface BlockGroup {
  readonly blocks: number[];
  range: ByteRange;
}

/** A block that a lookup waits for. */
interface Wanted {
  readonly i: number;
  readonly resolve: (contents: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
  /** Ends the read of its group when no other block of the group is wanted any more. */
  leave: ((reason: unknown) => void) | undefined;
}

/** Reads a group of blocks, and decodes one of them from what was read. */
export interface GroupReads {
  /** Blocks of ascending numbers, in groups of those that one read is to contain. */
  group(blocks: readonly number[]): readonly BlockGroup[];
  read(group: BlockGroup, signal: Signal): Promise<Uint8Array>;
  decode(i: number, bytes: Uint8Array, group: BlockGroup): Uint8Array;
}

/**
 * Reads blocks for lookups that run at the same time, where reads are slow: blocks that are close to each other in one read, and
 * no more than a number of reads at once. Blocks that are asked for in the meantime are grouped with those that wait.
 */
export class BlockQueue {
  readonly #reads: GroupReads;
  readonly #gate: ReadGate;
  readonly #wanted = new Map<number, Wanted>();
  #isScheduled = false;

  /** @param gate bounds the simultaneous reads. */
  constructor(reads: GroupReads, gate: ReadGate) {
    this.#reads = reads;
    this.#gate = gate;
  }

  /** The contents of data block `i`, which no other call waits for. @param signal ends the read, and is aborted for nothing else. */
  read(i: number, signal: Signal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const wanted: Wanted = { i, resolve, reject, leave: undefined };
      this.#wanted.set(i, wanted);
      onAbort(signal, () => {
        if (wanted.leave === undefined) this.#wanted.delete(i);
        else wanted.leave(signal.reason);
        reject(signal.reason);
      });
      this.#schedule();
    });
  }

  /** Starts reads after the calls that are made at the same time have said which blocks they want. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void Promise.resolve().then(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  readonly #start = (): void => {
    if (this.#wanted.size === 0 || !this.#gate.enter(this.#start)) return;
    const groups = this.#reads.group([...this.#wanted.keys()].sort((a, b) => a - b));
    const groupOf = new Map<number, BlockGroup>();
    for (const group of groups) for (const i of group.blocks) groupOf.set(i, group);
    // The block that has waited longest first.
    for (const i of [...this.#wanted.keys()]) {
      if (!this.#wanted.has(i)) continue;
      void this.#run(groupOf.get(i)!);
      if (this.#wanted.size === 0 || !this.#gate.enter(this.#start)) return;
    }
    this.#gate.leave();
  };

  /** Reads a group, for which there is room. */
  async #run(group: BlockGroup): Promise<void> {
    const controller = new AbortController();
    const members = group.blocks.map((i) => this.#wanted.get(i)!);
    let left = members.length;
    const leave = (reason: unknown): void => {
      if (--left === 0) controller.abort(reason);
    };
    for (const member of members) {
      this.#wanted.delete(member.i);
      member.leave = leave;
    }
    try {
      const bytes = await this.#reads.read(group, controller.signal);
      for (const { i, resolve, reject } of members) {
        try {
          resolve(this.#reads.decode(i, bytes, group));
        } catch (error) {
          reject(error);
        }
      }
    } catch (error) {
      for (const { reject } of members) reject(error);
    } finally {
      this.#gate.leave();
      this.#start();
    }
  }
}
