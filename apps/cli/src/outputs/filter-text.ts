/** Messages about a table's filters. */
import { filterWriter, GOLEVELDB_FILTER } from '@bloom/report';
import { CorruptionError, type FilterStatus, UnsupportedError } from '@bloom/sstable';
import { placedProblem } from '../failure.js';

/** Whether filters are in use, as text. */
export function statusText(status: FilterStatus): string {
  switch (status.state) {
    case 'used':
      return `${status.policyName}, used`;
    case 'unread':
      return `${status.policyName}, not read yet`;
    case 'absent':
      return 'absent: the table has no filter';
    case 'unknown-policy':
      return unknownText(status.policyNames);
    case 'unsupported':
      return `of another kind, not used: ${status.names.join(', ')}`;
    case 'corrupt':
      return `${status.policyName === undefined ? '' : `${status.policyName}, `}corrupt, not used: ${problemOf(status.error)}`;
    case 'contradicted':
      return `${status.policyName}, not used: they do not match keys that the table stores`;
  }
}

function unknownText(names: readonly string[]): string {
  const text = `of an unknown policy, not used: ${names.join(', ')}`;
  if (!names.includes(GOLEVELDB_FILTER)) return text;
  return `${text}, ${filterWriter(GOLEVELDB_FILTER)}: use them with --policy goleveldb-bloom`;
}

/** The names of the policies of the filters in a file. */
export function policyNames(status: FilterStatus): readonly string[] {
  if (status.state === 'unknown-policy') return status.policyNames;
  return 'policyName' in status ? [status.policyName] : [];
}

/** The problem of a filter. */
export function problemOf(error: Error): string {
  return error instanceof CorruptionError || error instanceof UnsupportedError ? placedProblem(error) : error.message;
}
