/** The explanation of a lookup in a database, as text. */
import type { AskedTable, FoundVersion, LookupExplanation, LookupStep, NotAsked } from '@bloom/leveldb';
import type { TableSearch } from '@bloom/sstable';
import { count, counted } from '@bloom/report';
import { placedProblem } from '../failure.js';
import { keyText } from './key-text.js';

const REASONS: Readonly<Record<NotAsked, string>> = {
  empty: 'not searched: it is empty',
  'out-of-range': 'not searched: the key is out of range',
  newer: 'not searched: its versions of the key are newer',
  'not-reached': 'not reached',
};

/** A line for the lookup and one for each source, in the order in which they were searched. */
export function explanationLines({ key, sequence, steps, outcome }: LookupExplanation): string[] {
  const rows = steps.map((step) => [nameOf(step), textOf(step)] as const);
  const width = Math.max(0, ...rows.map(([name]) => name.length));
  const end =
    outcome.kind === 'value' || outcome.kind === 'deletion'
      ? `${outcome.kind === 'value' ? 'a value' : 'deleted'}, sequence ${count(BigInt(outcome.sequence))}, in ${outcome.file}`
      : outcome.kind === 'absent'
        ? 'absent from every source'
        : `failed: ${placedProblem(outcome.error)}`;
  return [`${keyText(key)} at sequence ${count(BigInt(sequence))}: ${end}`, ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)];
}

/** A line for a lookup in one table. */
export function searchLine(key: Uint8Array, search: TableSearch): string {
  return `${keyText(key)}: ${searchText({ search, wasOpen: true })}`;
}

function nameOf(step: LookupStep): string {
  if (step.source === 'memtable') return step.file;
  return step.source === 'level' ? `level ${step.level}` : `level ${step.level}, ${step.file}`;
}

function textOf(step: LookupStep): string {
  if (step.source === 'level') {
    if (step.reason !== 'out-of-range') return `${REASONS[step.reason]}, ${counted(step.tables, 'table')}`;
    return `${REASONS[step.reason]} of ${step.tables === 1 ? 'its table' : `each of its ${counted(step.tables, 'table')}`}`;
  }
  if (!step.asked) {
    const range = step.source === 'table' && step.reason === 'out-of-range' ? `, ${keyText(step.smallest)} to ${keyText(step.largest)}` : '';
    return `${REASONS[step.reason]}${range}`;
  }
  if (step.source === 'memtable') return `in memory, ${counted(step.entries, 'entry')}: ${foundText(step.found)}`;
  return `${searchText(step)}: ${foundText(step.found)}`;
}

/** The search of a table, as text. */
function searchText({ search: { blockCount, block, filter, searched }, wasOpen }: Pick<AskedTable, 'search' | 'wasOpen'>): string {
  const parts: string[] = wasOpen ? [] : ['opened'];
  if (block !== undefined) parts.push(`block ${count(block.number + 1)} of ${count(blockCount)}`);
  else if (blockCount > 0) parts.push('the key is after its blocks');
  switch (filter?.answer) {
    case 'no':
      parts.push('the filter says no, so it is not read');
      break;
    case 'maybe':
      parts.push('the filter says maybe');
      break;
    case 'unreadable':
      parts.push('the filter cannot be read');
      break;
    case 'not-asked':
      parts.push(filter.state === 'absent' ? 'no filter' : `the filter is not used (${filter.state})`);
      break;
    case undefined:
      break;
  }
  if (searched !== undefined && block !== undefined) parts.push(searched.isCached ? 'in the cache' : `${counted(block.size, 'byte')} read at ${count(block.offset)}`);
  return parts.join(', ');
}

function foundText(found: FoundVersion): string {
  switch (found.kind) {
    case 'value':
      return `a value of ${counted(found.byteLength, 'byte')}, sequence ${count(BigInt(found.sequence))}`;
    case 'deletion':
      return `a deletion, sequence ${count(BigInt(found.sequence))}`;
    case 'newer':
      return `only newer versions, up to sequence ${count(BigInt(found.sequence))}`;
    case 'nothing':
      return 'nothing';
    case 'failed':
      return `failed: ${placedProblem(found.error)}`;
  }
}
