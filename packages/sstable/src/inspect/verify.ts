import type { Place } from '@bloom/bytes';
import { mustBeOptions, mustBeWhole } from '@bloom/bytes/internal';
import { FilterBlockReader } from '@bloom/filter-block';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { comparatorOf, compareRangeOf } from '../format/checked-comparator.js';
import type { Comparator } from '../format/comparator.js';
import { InternalKeyComparator, internalKeyComparator, internalKeyPolicy, mayBeInternalKey } from '../format/internal-key.js';
import { isForeignFilter, type MetaindexEntry, policyNameOf } from '../format/metaindex-block.js';
import { storedEnd } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import type { Source } from '../read/source.js';
import { mustBePolicies, policiesFor, type TableOptions } from '../read/options.js';
import { DataCheck } from './data-check.js';
import { DEFAULT_MAX_FINDINGS, type Finding, FindingList } from './finding.js';
import { indexEntries } from './index-entries.js';
import { mayBeInternalEntry } from './internal-entry.js';
import { ENTRIES_PER_PAUSE, INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';
import { structureOf, survey, type Survey } from './survey.js';

/** How to verify a table. Every option has a default. */
export interface VerifyOptions extends InspectionOptions, Pick<TableOptions, 'filterPolicies'> {
  /** The order of the keys; null when it is unknown, and then it is not checked. Default: bytewise. */
  readonly comparator?: Comparator | null | undefined;
  /** The most findings to list; further ones are counted. Default: 10,000. */
  readonly maxFindings?: number | undefined;
}

/** The result of verifying a table. */
export interface VerifyReport {
  /** What is wrong with the table, at most `maxFindings`. */
  readonly findings: readonly Finding[];
  /** The number of findings that are not listed. */
  readonly moreFindings: number;
  /** What could not be checked. A table without findings and without unchecked parts is intact. */
  readonly unchecked: readonly Unchecked[];
  /**
   * Whether the keys are internal keys, as in a table of a LevelDB database. If the options do not say so, this is detected,
   * and keys, index keys and filters are checked accordingly.
   */
  readonly isDatabaseTable: boolean;
}

/** A part of a table that could not be checked. */
export interface Unchecked {
  readonly part: 'metaindex' | 'index' | 'data blocks' | 'filters' | 'key order';
  readonly reason: string;
}

/**
 * Checks a whole table, whatever state it is in: checksums, handles, overlaps, restarts, the order of keys within and
 * between blocks, index keys, and that every key matches its filter.
 *
 * Reads the whole file. Takes memory for one block and the index, each at most a few times `maxBlockBytes`, for 2 MiB of the
 * file, and 21 bytes per block that the index lists; time in proportion to the bytes of the file and of its decompressed blocks.
 *
 * @throws the source's errors, the reason of `signal`, and ComparatorError; never an error about the bytes of the table.
 *
 * @example
 * ```ts
 * const { findings, unchecked } = await verifyTable(source);
 * for (const { structure, offset, problem } of findings) console.log(`${structure} at ${offset}: ${problem}`);
 * for (const { part, reason } of unchecked) console.log(`not checked: ${part}: ${reason}`);
 * ```
 */
export async function verifyTable(source: Source, options: VerifyOptions = {}): Promise<VerifyReport> {
  mustBeOptions('verifyTable', options, { ...INSPECTION_OPTIONS, filterPolicies: true, comparator: true, maxFindings: true });
  const comparator = options.comparator === null ? undefined : comparatorOf('comparator', options.comparator);
  if (options.filterPolicies !== undefined) mustBePolicies(options.filterPolicies);
  // If the order is unknown, there is nothing that the policies must agree with.
  const policies =
    comparator === undefined
      ? (options.filterPolicies ?? [new BloomFilterPolicy()])
      : policiesFor({ filterPolicies: options.filterPolicies }, comparator);
  const stored = new StoredBlocks(source, options);
  const maxFindings = mustBeWhole('maxFindings', options.maxFindings ?? DEFAULT_MAX_FINDINGS, 0);
  return new Verification(stored, comparator, policies, maxFindings).run();
}

class Verification {
  private readonly stored: StoredBlocks;
  private readonly comparator: Comparator | undefined;
  private readonly policies: readonly FilterPolicy[];
  private readonly maxFindings: number;
  /** Findings about everything except the keys. */
  private readonly findings: FindingList;
  private readonly unchecked: Unchecked[] = [];
  /** Checks the keys as they are. */
  private plain!: DataCheck;
  /** Checks the keys as internal keys, as long as all look like some; undefined if the comparator already does. */
  private internal: DataCheck | undefined;
  private filter: FilterBlockReader | undefined;
  private readonly walk: WholeBlockWalk;
  private entries = 0;
  private internalKeys = 0;
  private blocksWithoutFilter = 0;

  constructor(stored: StoredBlocks, comparator: Comparator | undefined, policies: readonly FilterPolicy[], maxFindings: number) {
    this.stored = stored;
    this.comparator = comparator;
    this.policies = policies;
    this.maxFindings = maxFindings;
    this.findings = new FindingList(maxFindings);
    this.walk = new WholeBlockWalk('data block', stored.source.name);
  }

  async run(): Promise<VerifyReport> {
    const found = await survey(this.stored, this.findings);
    this.#overlaps(found);
    const filter = await this.#metaBlocks(found);
    this.#checks(filter);
    await this.#dataBlocks(found);
    this.#sayUnchecked(found);
    return this.#report();
  }

  #overlaps({ blocks, fileOrder, isRepeated, metaBlocks }: Survey): void {
    let end = 0;
    let last = -1;
    for (const i of fileOrder) {
      if (isRepeated[i] === 1) continue;
      const offset = blocks.offsetOf(i);
      if (offset < end) {
        const [of, from, to] = [structureOf(metaBlocks, last), blocks.offsetOf(last), end];
        const place = { structure: structureOf(metaBlocks, i), offset };
        this.findings.add('BLOOM_OVERLAP', place, () => `it starts before the ${of} at offset ${from} ends, at ${to}`);
      }
      const ownEnd = storedEnd(blocks.at(i));
      if (ownEnd > end) [end, last] = [ownEnd, i];
    }
  }

  /** Reads the blocks that the metaindex lists. @returns the filter block that a reader would use. */
  async #metaBlocks({ metaindex = [], metaBlocks, isRepeated }: Survey): Promise<FilterParts | undefined> {
    const { name: file } = this.stored.source;
    // A reader uses only the first listed filter whose policy it has.
    const entry = metaindex.find((one) => this.#policyOf(one) !== undefined);
    let parts: FilterParts | undefined;
    for (const [i, { structure, handle }] of metaBlocks.entries()) {
      if (structure !== 'filter block' && structure !== 'meta block') continue;
      // Another handle may lead to the same block, under another name.
      const isFilter = handle.offset === entry?.handle?.offset && handle.size === entry.handle.size;
      if (isFilter ? parts !== undefined : isRepeated[i] === 1) continue;
      try {
        const contents = await this.stored.contents(handle, { structure, file });
        if (isFilter) parts = { policy: this.#policyOf(entry)!, contents };
      } catch (error) {
        this.findings.addError(error);
      }
    }
    this.#sayFilters(metaindex, entry, parts !== undefined);
    return parts;
  }

  #policyOf(entry: MetaindexEntry): FilterPolicy | undefined {
    const policyName = policyNameOf(entry);
    return this.policies.find(({ name }) => name === policyName);
  }

  /** Reports filters that cannot be used. */
  #sayFilters(metaindex: readonly MetaindexEntry[], used: MetaindexEntry | undefined, isRead: boolean): void {
    if (isRead) return;
    if (used !== undefined) {
      this.#skip('filters', `the block of ${used.name} cannot be read`);
      return;
    }
    const unknown = metaindex.map(policyNameOf).filter((name) => name !== undefined);
    const foreign = metaindex.filter(isForeignFilter).map(({ name }) => name);
    if (unknown.length > 0) this.#skip('filters', `no filter policy of this name is known: ${unknown.join(', ')}`);
    else if (foreign.length > 0) this.#skip('filters', `filters of this kind cannot be read: ${foreign.join(', ')}`);
  }

  #checks(parts: FilterParts | undefined): void {
    const comparator = this.comparator;
    this.filter = parts && new FilterBlockReader(parts.policy, parts.contents);
    this.plain = new DataCheck(comparator && compareRangeOf(comparator), this.filter, new FindingList(this.maxFindings));
    if (comparator instanceof InternalKeyComparator) return;
    this.internal = new DataCheck(
      comparator && compareRangeOf(internalKeyComparator(comparator)),
      parts && new FilterBlockReader(internalKeyPolicy(parts.policy), parts.contents),
      new FindingList(this.maxFindings),
    );
  }

  async #dataBlocks({ footer, index, blocks, blocksEnd, metaBlocks, isRepeated }: Survey): Promise<void> {
    if (footer === undefined || index === undefined) return;
    const { name: file } = this.stored.source;
    const indexPlace: Place = { structure: 'index block', offset: footer.index.offset, file };
    let next = metaBlocks.length;
    // The survey has reported what is wrong with the index.
    for (const { handle, separator } of indexEntries(index, indexPlace, new FindingList(0))) {
      if (handle === undefined || storedEnd(handle) > blocksEnd) continue;
      if (next === blocks.length) break;
      if (isRepeated[next++] === 1) continue;
      const place: Place = { structure: 'data block', offset: handle.offset, file };
      const indexKey = separator.slice();
      try {
        const contents = await this.stored.contents(handle, place);
        await this.#entriesOf(contents, place);
      } catch (error) {
        this.findings.addError(error);
      }
      this.plain.endBlock(place, indexKey);
      this.internal?.endBlock(place, indexKey);
    }
  }

  async #entriesOf(contents: Uint8Array, place: Place): Promise<void> {
    const walk = this.walk;
    const plain = this.plain;
    const { offset } = place;
    let restart = 0;
    let entries = 0;
    plain.startBlock(offset);
    this.internal?.startBlock(offset);
    walk.reset(contents, offset);
    for (let more = walk.seekToFirst(); more; more = walk.next()) {
      if (++entries % ENTRIES_PER_PAUSE === 0) await this.stored.pause();
      if (restart < walk.restartCount && walk.restartOffset(restart) === walk.entryStart) restart++;
      plain.key(walk);
      this.entries++;
      if (mayBeInternalKey(walk.key)) this.internalKeys++;
      if (this.internal === undefined) continue;
      if (mayBeInternalEntry(walk)) this.internal.key(walk);
      else this.internal = undefined;
    }
    if (restart < walk.restartCount && !(restart === 0 && entries === 0)) {
      const at = walk.restartOffset(restart);
      this.findings.add('BLOOM_BAD_RESTART', place, () => `restart ${restart} is at byte ${at}, where no entry starts`);
    }
    const filter = this.filter;
    if (filter !== undefined && entries > 0 && filter.filterAt(Math.floor(offset / filter.base)) === undefined) this.blocksWithoutFilter++;
  }

  #sayUnchecked({ footer, metaindex, index, isIndexWhole }: Survey): void {
    if (footer === undefined) {
      this.#skip('metaindex', 'the footer cannot be read');
      this.#skip('index', 'the footer cannot be read');
    } else {
      if (metaindex === undefined) this.#skip('filters', 'the metaindex cannot be read');
      if (index === undefined) this.#skip('data blocks', 'the index cannot be read');
      else if (!isIndexWhole) this.#skip('data blocks', 'the index is damaged and may not list all of them');
    }
    if (this.blocksWithoutFilter > 0) {
      this.#skip('filters', `${this.blocksWithoutFilter} data blocks have no filter that can be read`);
    }
    if (this.comparator === undefined) this.#skip('key order', 'the comparator is unknown');
  }

  #skip(part: Unchecked['part'], reason: string): void {
    this.unchecked.push({ part, reason });
  }

  #report(): VerifyReport {
    const isTakenAsInternal = this.comparator instanceof InternalKeyComparator;
    let keys = this.plain;
    let isDatabaseTable = isTakenAsInternal;
    if (this.internal !== undefined && this.internal.findings.count < keys.findings.count) {
      // There are fewer findings if the keys are internal keys.
      keys = this.internal;
      isDatabaseTable = true;
    } else if (isTakenAsInternal && this.internalKeys < this.entries) {
      const [others, all] = [this.entries - this.internalKeys, this.entries];
      // If all keys are plain, findings about their order and filters mean nothing.
      if (others === all) keys = new DataCheck(undefined, undefined, new FindingList(this.maxFindings));
      isDatabaseTable = others < all;
      this.findings.add('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0 }, () => {
        return `${others} of ${all} keys do not end in a sequence and a type: they may be plain keys`;
      });
    }
    if (keys.fault !== undefined) throw keys.fault;
    const { findings: found } = keys;
    const all = [...this.findings.findings, ...found.findings];
    const findings = all.slice(0, this.maxFindings);
    const moreFindings = this.findings.more + found.more + all.length - findings.length;
    return { findings, moreFindings, unchecked: this.unchecked, isDatabaseTable };
  }
}

/** The filter block in use, and its policy. */
interface FilterParts {
  readonly policy: FilterPolicy;
  readonly contents: Uint8Array;
}
