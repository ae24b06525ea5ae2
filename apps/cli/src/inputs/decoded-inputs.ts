import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { internalKeyComparator } from '@bloom/sstable/database';
import type { InputForm } from '../formats/decoders.js';
import type { EntryBatch } from '../formats/entry-batch.js';
import type { Failure } from '../failure.js';
import { versionOf } from '../formats/version-input.js';
import { keyText } from '../outputs/key-text.js';
import type { BatchSource } from './batch-source.js';
import { DecodedInput } from './decoded-input.js';
import { openInput, type NamedInput } from './input.js';

/** The place of an entry. */
interface Place {
  readonly input: DecodedInput;
  readonly position: number;
  readonly key: Uint8Array;
}

/** The required order of entries. */
interface OrderOptions {
  readonly comparator?: Comparator | undefined;
  readonly sort?: string;
  /** Whether the entries are versions: the newest version of a key comes first. */
  readonly versions?: boolean | undefined;
}

function versionText(key: Uint8Array): string {
  const { userKey, sequence } = versionOf(key);
  return `${keyText(userKey)} of sequence ${sequence}`;
}

function copied(place: Place): Place {
  return { ...place, key: place.key.slice() };
}

/** The entries of several inputs, one after another. */
export class DecodedInputs implements BatchSource {
  readonly #inputs: readonly NamedInput[];
  readonly #form: InputForm;
  readonly #onBytes: (bytesRead: number) => void;
  #opened = 0;
  #input: DecodedInput | undefined;
  #bytesBefore = 0;
  #bytesRead = 0;
  /** The batch that was returned last. */
  #batch: EntryBatch | undefined;
  /** The last entry of the batches before it. */
  #last: Place | undefined;

  /** @param onBytes called with the number of bytes read so far. */
  constructor(inputs: readonly NamedInput[], form: InputForm, onBytes: (bytesRead: number) => void) {
    this.#inputs = inputs;
    this.#form = form;
    this.#onBytes = onBytes;
  }

  async next(): Promise<EntryBatch | undefined> {
    const before = this.#batch;
    if (before !== undefined && before.length > 0) this.#last = copied(this.#placeIn(before, before.length - 1));
    this.#batch = undefined;
    for (;;) {
      this.#input ??= await this.#open();
      if (this.#input === undefined) return undefined;
      const batch = await this.#input.next();
      if (batch !== undefined) return (this.#batch = batch);
      this.#input.close();
      this.#input = undefined;
      this.#bytesBefore = this.#bytesRead;
    }
  }

  close(): void {
    this.#input?.close();
  }

  /** A problem of entry `i` of the last returned batch, as a failure that names its place. */
  failureAt(i: number, problem: string): Failure {
    const { input, position } = this.#placeIn(this.#batch!, i);
    return input.failureAt(position, problem);
  }

  /**
   * Why the entry `i` of the batch that was returned last cannot follow the one before it; undefined if it can.
   *
   * @param sort the option that would accept it.
   */
  orderProblem(i: number, { comparator = bytewiseComparator, sort = '--sort', versions = false }: OrderOptions): Failure | undefined {
    const place = this.#placeIn(this.#batch!, i);
    const last = i > 0 ? this.#placeIn(this.#batch!, i - 1) : this.#last;
    if (last === undefined) return undefined;
    const order = (versions ? internalKeyComparator(comparator) : comparator).compare(last.key, place.key);
    const text = versions ? versionText : keyText;
    if (order < 0) return undefined;
    const { unit } = place.input;
    const where = `(${unit} ${last.position}${last.input === place.input ? '' : ` of ${last.input.name}`})`;
    const by = comparator === bytewiseComparator ? '' : ` by ${comparator.name}`;
    return place.input.failureAt(
      place.position,
      order === 0
        ? `key ${text(place.key)} is a duplicate ${where}${by}; ${sort} keeps the last ${versions ? 'of equal versions' : 'value of each key'}`
        : `key ${text(place.key)} comes before ${text(last.key)} ${where}${by}; ${sort} accepts keys in any order`,
    );
  }

  #placeIn(batch: EntryBatch, i: number): Place {
    return { input: this.#input!, position: batch.positions[i]!, key: batch.key(i) };
  }

  async #open(): Promise<DecodedInput | undefined> {
    const input = this.#inputs[this.#opened++];
    return (
      input &&
      new DecodedInput(await openInput(input), this.#form, (bytesRead) => {
        this.#bytesRead = this.#bytesBefore + bytesRead;
        this.#onBytes(this.#bytesRead);
      })
    );
  }
}
