import { FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { bytewiseComparator, type Comparator, type CompareRange, compareRangeOf } from '../format/comparator.js';
import type { Place } from '@bloom/bytes';
import { type Reading, runAsync } from '../read/reading.js';
import { type MetaindexEntry, policyNameOf } from '../format/metaindex-block.js';
import type { Source } from '../read/source.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../format/stored-block.js';
import { type Finding, type FindingCode, findingOf, ReadBudget, survey, type SurveyedBlock } from './survey.js';
import { decodingFor, policiesFor, type TableOptions } from '../read/options.js';

/** How to look at a whole table. All of it has a default. */
export interface VerifyOptions extends Omit<TableOptions, 'comparator' | 'cache' | 'tailBytes'> {
  /** The order of the keys; null where it is not known, and not to be checked. Default: bytewise. */
  readonly comparator?: Comparator | null | undefined;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Everything that is wrong with a table, whatever state it is in; empty when nothing is.
 *
 * Checks checksums, handles, overlaps, the order of keys within and between blocks, index keys, restarts, and that
 * every key passes its filter. Reads the whole file.
 *
 * @throws what the source throws; never for the bytes of the table.
 */
export function verifyTable(source: Source, options: VerifyOptions = {}): Promise<Finding[]> {
  return runAsync(source, verify(source, options), options.signal);
}

function* verify(source: Source, options: VerifyOptions): Reading<Finding[]> {
  const comparator = options.comparator === null ? undefined : (options.comparator ?? bytewiseComparator);
  const compare = comparator && compareRangeOf(comparator);
  // Where the order is not known, nothing says what a policy has to agree with.
  const policies =
    comparator === undefined
      ? (options.filterPolicies ?? [new BloomFilterPolicy()])
      : policiesFor({ filterPolicies: options.filterPolicies }, comparator);
  const decoding = decodingFor(options);
  const { footer, metaindex, listed, blocks, findings: surveyed } = yield* survey(source, decoding);
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

  const budget = new ReadBudget(source);
  const readContents = function* (block: SurveyedBlock): Reading<Uint8Array | undefined> {
    if (!budget.take(block.handle)) {
      report('BLOOM_TOO_LARGE', placeOf(block, source), 'so many blocks overlap that it was not looked at');
      return undefined;
    }
    const stored = yield { offset: block.handle.offset, length: block.handle.size + BLOCK_TRAILER_LENGTH };
    try {
      return decodeStoredBlock(stored, placeOf(block, source), decoding);
    } catch (error) {
      findings.push(findingOf(error));
      return undefined;
    }
  };

  let filter: FilterBlockReader | undefined;
  // As a table is opened: the first that is listed and whose policy was given, and no other.
  const filterEntry = metaindex.find((entry) => policyOf(entry, policies) !== undefined);
  for (const block of listed) {
    if (block.structure !== 'filter block' && block.structure !== 'meta block') continue;
    const contents = yield* readContents(block);
    // A handle may stand under several names.
    const isFilter = block.handle.offset === filterEntry?.handle?.offset && block.handle.size === filterEntry.handle.size;
    if (contents !== undefined && isFilter) filter = new FilterBlockReader(policyOf(filterEntry, policies)!, contents);
  }

  let previousSeparator: Uint8Array | undefined;
  for (const block of listed) {
    const { separator } = block;
    if (separator === undefined || comparator === undefined) continue;
    if (previousSeparator !== undefined && comparator.compare(previousSeparator, separator) >= 0) {
      report('BLOOM_BAD_SEPARATOR', placeOf(block, source), 'its index key is not after the one before it in the index');
    }
    previousSeparator = separator;
  }

  const walk = new DataWalk(compare, filter, report);
  for (const block of blocks) {
    if (block.structure !== 'data block') continue;
    const contents = yield* readContents(block);
    const place = placeOf(block, source);
    walk.block(contents, place, block.separator!);
  }
  return findings;
}

function placeOf({ structure, handle }: SurveyedBlock, { name: file }: Source): Place {
  return { structure, offset: handle.offset, file };
}

function policyOf(entry: MetaindexEntry, policies: readonly FilterPolicy[]): FilterPolicy | undefined {
  const policyName = policyNameOf(entry);
  return policies.find((policy) => policy.name === policyName);
}

/** Checks one data block after another, and what holds between them. */
class DataWalk {
  readonly #compare: CompareRange | undefined;
  readonly #filter: FilterBlockReader | undefined;
  readonly #report: (code: FindingCode, place: Place, problem: string) => void;
  readonly #cursor: WholeBlockWalk;
  /** The key before the current one, in this block or an earlier one. */
  #lastKey = new Uint8Array(64);
  #lastKeyLength = -1;
  /** The index key of the block before, if it is in force. */
  #separator: Uint8Array | undefined;

  constructor(
    compare: CompareRange | undefined,
    filter: FilterBlockReader | undefined,
    report: (code: FindingCode, place: Place, problem: string) => void,
  ) {
    this.#compare = compare;
    this.#filter = filter;
    this.#report = report;
    this.#cursor = new WholeBlockWalk('data block');
  }

  /** @param contents undefined when they cannot be had: what is checked between blocks goes on behind it. */
  block(contents: Uint8Array | undefined, place: Place, separator: Uint8Array): void {
    if (contents !== undefined) this.#entries(contents, place);
    const compare = this.#compare;
    if (compare === undefined) return;
    if (this.#lastKeyLength >= 0 && compare(this.#lastKey, 0, this.#lastKeyLength, separator, 0, separator.length) > 0) {
      this.#report('BLOOM_BAD_SEPARATOR', place, 'its last key is after its index key');
    }
    this.#separator = separator;
  }

  #entries(contents: Uint8Array, place: Place): void {
    const cursor = this.#cursor;
    let restart = 0;
    let denied = 0;
    let isFirst = true;
    try {
      cursor.reset(contents, place.offset);
      for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
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
