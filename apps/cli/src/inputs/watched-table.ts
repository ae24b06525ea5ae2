import { BloomFilterPolicy } from '@bloom/policy';
import { WatchedPolicy } from '@bloom/report';
import { SyncTable, type TableOptions } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { policyNames } from '../outputs/filter-text.js';
import { policyInOrder } from '../plugins/policy-in-order.js';
import { openDatabaseTable, openTable, type SyncTableFile } from './opened-table.js';

/** A table whose filters are asked by a policy that counts what they answer. */
export interface WatchedTable {
  readonly table: SyncTable;
  readonly policy: WatchedPolicy;
  /** The order and the policies for reading its keys as stored. */
  readonly keyOrder: Pick<TableOptions, 'comparator' | 'filterPolicies'>;
}

/** Opens a table again. The policy that is watched is that of the stored filters. */
export function watchedTable(file: SyncTableFile): WatchedTable {
  const { opening, isInternal } = file;
  const { comparator, filterPolicies: policies = [new BloomFilterPolicy()] } = opening;
  const used = policyNames(openTable(file).filterStatus);
  const policy = new WatchedPolicy(policies.find(({ name }) => used.includes(name)) ?? policyInOrder(new BloomFilterPolicy(), comparator));
  const filterPolicies = [policy, ...policies.filter(({ name }) => name !== policy.name)];
  const watched = { ...opening, filterPolicies };
  return isInternal
    ? { policy, table: openDatabaseTable(file, watched).table, keyOrder: { comparator: internalKeyComparator(comparator), filterPolicies: filterPolicies.map(internalKeyPolicy) } }
    : { policy, table: SyncTable.open(file.source, watched), keyOrder: { comparator, filterPolicies } };
}
