import { FilterBlockReader } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import { BlockCursor } from './block.js';
import { bytewiseComparator, type Comparator, type CompareRange, compareRangeOf } from './comparator.js';
import { CorruptionError, type Place } from './errors.js';
import type { Reading } from './open-table.js';
import { policyNameOf } from './metaindex-block.js';
import type { Source } from './source.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from './stored-block.js';
import { type Finding, type FindingCode, findingOf, survey, type SurveyedBlock } from './survey.js';
import { decodingFor, policiesFor, type TableOptions } from './table-options.js';

/** How to look at a whole table. All of it has a default. */
export interface VerifyOptions extends Omit<TableOptions, 'comparator' | 'cache' | 'tailBytes'> {
  /** The order of the keys; null where it is not known, and not to be checked. Default: bytewise. */
  readonly comparator?: Comparator | null | undefined;
}

/** Keys that are written out whole in one block may be this many times the limit of a block's bytes. */
const MAX_KEY_EXPANSION = 16;

/** Goes through a whole table and gives all that is wrong with it. */
export function* verify(source: Source, options: VerifyOptions): Reading<Finding[]> {
  const comparator = options.comparator === null ? undefined : (options.comparator ?? bytewiseComparator);
  const compare = comparator && compareRangeOf(comparator);
  const policies = policiesFor({ filterPolicies: options.filterPolicies }, comparator ?? bytewiseComparator);
  const decoding = decodingFor(options);
  const { footer, blocks, findings: surveyed } = yield* survey(source, decoding);
  const findings = [...surveyed];
  if (footer === undefined) return findings;
  const report = (code: FindingCode, { structure, offset }: Place, problem: string): void => {
    findings.push({ code, structure, offset, problem });
  };

  for (const [i, block] of blocks.entries()) {
    const previous = blocks[i - 1];
    if (previous === undefined) continue;
    const end = previous.handle.offset + previous.handle.size + BLOCK_TRAILER_LENGTH;
    if (block.handle.offset < end) {
      const problem = `it starts before the ${previous.structure} at offset ${previous.handle.offset} ends, at ${end}`;
      report('BLOOM_OVERLAP', placeOf(block, source), problem);
    }
  }

  const readContents = function* (block: SurveyedBlock): Reading<Uint8Array | undefined> {
    const stored = yield { offset: block.handle.offset, length: block.handle.size + BLOCK_TRAILER_LENGTH };
    try {
      return decodeStoredBlock(stored, placeOf(block, source), decoding);
    } catch (error) {
      findings.push(findingOf(error));
      return undefined;
    }
  };

  let filter: FilterBlockReader | undefined;
  for (const block of blocks) {
    if (block.structure !== 'filter block' && block.structure !== 'meta block') continue;
    const contents = yield* readContents(block);
    const policy = contents && policyOf(block, policies);
    if (policy !== undefined) filter ??= new FilterBlockReader(policy, contents!);
  }

  // In the order of the index, which is that of the keys; the file's order is the same unless something is wrong.
  const dataBlocks = blocks.filter(({ structure }) => structure === 'data block');
  const walk = new DataWalk(compare, filter, decoding.maxBlockBytes, report);
  for (const block of dataBlocks) {
    const contents = yield* readContents(block);
    const place = placeOf(block, source);
    walk.block(contents, place, block.separator!);
  }
  return findings;
}

function placeOf({ structure, handle }: SurveyedBlock, { name: file }: Source): Place {
  return { structure, offset: handle.offset, file };
}

function policyOf({ name }: SurveyedBlock, policies: readonly FilterPolicy[]): FilterPolicy | undefined {
  const policyName = name && policyNameOf({ name, handle: undefined });
  return policies.find((policy) => policy.name === policyName);
}

/** Checks one data block after another, and what holds between them. */
class DataWalk {
  readonly #compare: CompareRange | undefined;
  readonly #filter: FilterBlockReader | undefined;
  readonly #maxKeyBytes: number;
  readonly #report: (code: FindingCode, place: Place, problem: string) => void;
  readonly #cursor: BlockCursor;
  /** The key before the current one, in this block or an earlier one. */
  #lastKey = new Uint8Array(64);
  #lastKeyLength = -1;
  /** The index key of the block before, if it is in force. */
  #separator: Uint8Array | undefined;

  constructor(
    compare: CompareRange | undefined,
    filter: FilterBlockReader | undefined,
    maxBlockBytes: number,
    report: (code: FindingCode, place: Place, problem: string) => void,
  ) {
    this.#compare = compare;
    this.#filter = filter;
    this.#maxKeyBytes = maxBlockBytes * MAX_KEY_EXPANSION;
    this.#report = report;
    this.#cursor = new BlockCursor(compare ?? compareRangeOf(bytewiseComparator), 'data block');
  }

  /** @param contents undefined when they cannot be had: what is checked between blocks goes on behind it. */
  block(contents: Uint8Array | undefined, place: Place, separator: Uint8Array): void {
    if (contents !== undefined) this.#entries(contents, place);
    const compare = this.#compare;
    if (compare === undefined) return;
    if (this.#lastKeyLength >= 0 && compare(this.#lastKey, 0, this.#lastKeyLength, separator, 0, separator.length) > 0) {
      this.#report('BLOOM_BAD_SEPARATOR', place, 'its last key is after its index key');
    }
    if (this.#separator !== undefined && compare(this.#separator, 0, this.#separator.length, separator, 0, separator.length) >= 0) {
      this.#report('BLOOM_BAD_SEPARATOR', place, 'its index key is not after that of the block before');
    }
    this.#separator = separator;
  }

  #entries(contents: Uint8Array, place: Place): void {
    const cursor = this.#cursor;
    let restart = 0;
    let keyBytes = 0;
    let denied = 0;
    let isFirst = true;
    try {
      cursor.reset(contents, place.offset);
      for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
        keyBytes += cursor.keyLength;
        if (keyBytes > this.#maxKeyBytes) {
          const problem = `its keys have more than ${this.#maxKeyBytes} bytes when they are written out`;
          throw new CorruptionError('BLOOM_TOO_LARGE', place, problem);
        }
        if (restart < cursor.restartCount && cursor.restartOffset(restart) === cursor.entryStart) restart++;
        this.#order(place, isFirst);
        if (this.#filter !== undefined && !this.#filter.keyMayMatch(place.offset, cursor.key)) denied++;
        isFirst = false;
      }
      if (restart < cursor.restartCount && !(restart === 0 && isFirst)) {
        const problem = `restart ${restart} is at byte ${cursor.restartOffset(restart)}, where no entry starts`;
        this.#report('BLOOM_BAD_RESTART', place, problem);
      }
    } catch (error) {
      const { code, problem } = findingOf(error);
      this.#report(code, place, problem);
    }
    if (denied > 0) this.#report('BLOOM_FILTER_MISS', place, `${denied} of its keys are denied by their filter`);
  }

  #order(place: Place, isFirst: boolean): void {
    const { keyBytes, keyLength, entryStart } = this.#cursor;
    const compare = this.#compare;
    if (compare === undefined) return;
    if (this.#lastKeyLength >= 0 && compare(this.#lastKey, 0, this.#lastKeyLength, keyBytes, 0, keyLength) >= 0) {
      this.#report('BLOOM_OUT_OF_ORDER', place, `the key at byte ${entryStart} is not after the key before it`);
    }
    if (isFirst && this.#separator !== undefined) {
      if (compare(this.#separator, 0, this.#separator.length, keyBytes, 0, keyLength) >= 0) {
        this.#report('BLOOM_BAD_SEPARATOR', place, 'its first key is not after the index key of the block before');
      }
    }
    if (keyLength > this.#lastKey.length) this.#lastKey = new Uint8Array(keyLength * 2);
    this.#lastKey.set(keyBytes.subarray(0, keyLength));
    this.#lastKeyLength = keyLength;
  }
}
