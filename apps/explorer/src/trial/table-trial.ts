import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { allCodecs } from '@bloom/codecs';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, CorruptionError, type Source, Table } from '@bloom/sstable';
import { DatabaseTable } from '@bloom/sstable/database';
import type { TableFacts } from '../table/table-facts.js';
import type { Reading, TrialSubject } from './filter-trials.js';

/** One table, for trials with other filters. */
export function tableTrial(source: Source, { name, isDatabase, isIndexedDb }: TableFacts, storedFilters: TrialSubject['storedFilters']): TrialSubject {
  const comparator = isIndexedDb ? idbComparator : bytewiseComparator;
  return {
    hasVersions: isDatabase,
    isIndexedDb,
    tables: new Map([[name, source]]),
    storedFilters,
    async open(tables, policy, signal): Promise<Reading> {
      const refiltered = tables?.get(name);
      const filterPolicies = policy !== undefined ? [policy] : tables !== undefined ? [] : [isIndexedDb ? idbFilterPolicy : new BloomFilterPolicy()];
      const options = { codecs: allCodecs, comparator, filterPolicies, filters: 'at-opening', signal } as const;
      const opened = isDatabase ? await DatabaseTable.open(refiltered?.source ?? source, options) : await Table.open(refiltered?.source ?? source, options);
      const table = opened instanceof DatabaseTable ? opened.table : opened;
      return {
        async has(key) {
          try {
            return (await opened.get(key)) !== undefined;
          } catch (error) {
            if (error instanceof CorruptionError) return undefined;
            throw error;
          }
        },
        stats: () => table.stats,
        async *keys() {
          if (opened instanceof DatabaseTable) for await (const { key } of opened.entries()) yield key;
          else yield* opened.keys();
        },
        close: () => opened.close(),
      };
    },
  };
}
