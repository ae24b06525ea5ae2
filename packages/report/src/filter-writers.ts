/** Whose filters have a name, where that is not what the name says. */

/** The name of goleveldb's filters, which LevelDB gave its own before 1.18. */
export const GOLEVELDB_FILTER = 'leveldb.BuiltinBloomFilter';

/** Who writes filters of that name, as the rest of a sentence about them; undefined where there is nothing to add. */
export function filterWriter(policyName: string): string | undefined {
  return policyName === GOLEVELDB_FILTER ? 'which goleveldb writes, and LevelDB wrote before 1.18' : undefined;
}
