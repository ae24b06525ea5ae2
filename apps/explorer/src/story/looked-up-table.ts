/** Lookups in the sample table with this project's code. Loaded when the step comes near the window. */
import { FilterBlockReader } from '@bloom/filter-block';
import { bloomHash } from '@bloom/hash';
import { BloomFilterPolicy, bloomProbes } from '@bloom/policy';
import { MemorySource, SyncTable, type TableExplanation } from '@bloom/sstable';
import { BLOCK_KINDS, inspectBlock, outlineTable, type TableOutline } from '@bloom/sstable/inspect';
import { sampleUrl } from '../session/sample-url.js';

/** The result of a lookup in the table, and the filter that it used. */
export interface TableLookup {
  readonly explanation: TableExplanation;
  readonly filter: Uint8Array | undefined;
  /** The bits of the key in that filter, in order. */
  readonly probes: readonly { readonly bit: number; readonly isSet: boolean }[];
}

export class LookedUpTable {
  readonly outline: TableOutline;
  readonly #table: SyncTable;
  readonly #filters: FilterBlockReader;

  private constructor(outline: TableOutline, table: SyncTable, filters: FilterBlockReader) {
    this.outline = outline;
    this.#table = table;
    this.#filters = filters;
  }

  static async open(): Promise<LookedUpTable> {
    const response = await fetch(sampleUrl('weather.ldb'));
    if (!response.ok) throw new Error(`the sample table could not be loaded: HTTP ${response.status}`);
    const source = new MemorySource(new Uint8Array(await response.arrayBuffer()));
    const policy = new BloomFilterPolicy();
    const outline = await outlineTable(source);
    const at = outline.kinds.indexOf(BLOCK_KINDS.indexOf('filter block'));
    const block = await inspectBlock(source, 'filter block', { offset: outline.offsets[at]!, size: outline.sizes[at]! });
    return new LookedUpTable(outline, SyncTable.open(source, { filterPolicies: [policy] }), new FilterBlockReader(policy, block.contents!));
  }

  /** The bytes of all blocks of a kind. */
  bytesOf(kind: (typeof BLOCK_KINDS)[number]): number {
    const number = BLOCK_KINDS.indexOf(kind);
    return this.outline.sizes.reduce((sum, size, i) => (this.outline.kinds[i] === number ? sum + size : sum), 0);
  }

  lookUp(text: string): TableLookup {
    const key = new TextEncoder().encode(text);
    const explanation = this.#table.explain(key);
    const answer = explanation.filter;
    const filter = answer === undefined || answer.answer === 'not-asked' ? undefined : this.#filters.filterAt(answer.number);
    if (filter === undefined || filter.length < 2) return { explanation, filter, probes: [] };
    const { probes } = bloomProbes(bloomHash(key), filter.length, filter.at(-1)!);
    return { explanation, filter, probes: probes.map(({ bit }) => ({ bit, isSet: ((filter[bit >> 3]! >> (bit & 7)) & 1) === 1 })) };
  }
}
