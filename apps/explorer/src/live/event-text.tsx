import { count, counted } from '@bloom/report';
import { byteSize } from '../controls/sizes.js';
import type { LiveEvent, NumberedEvent } from './live-facts.js';

const REASONS = {
  size: 'the level is full',
  seeks: 'too many lookups read it without finding their key',
  manual: 'it was requested',
} as const;

/** An event in the list. Several writes to one log are shown as one event. */
export interface ShownEvent {
  readonly id: number;
  readonly event: LiveEvent;
  /** For writes, the number of records and operations. */
  readonly records: number;
  readonly operations: number;
}

/** The events from the newest to the oldest. */
export function shownEvents(events: readonly NumberedEvent[]): ShownEvent[] {
  const shown: ShownEvent[] = [];
  for (const { id, event } of events) {
    const last = shown.at(-1);
    const operations = event.kind === 'write-logged' ? event.operations : 0;
    if (event.kind === 'write-logged' && last?.event.kind === 'write-logged' && last.event.log === event.log && last.event.isSynced === event.isSynced) {
      shown[shown.length - 1] = { id: last.id, event, records: last.records + 1, operations: last.operations + operations };
    } else {
      shown.push({ id, event, records: 1, operations });
    }
  }
  return shown.reverse();
}

/** The description of an event, with its reason. */
export function EventText({ shown: { event, records, operations } }: { readonly shown: ShownEvent }) {
  switch (event.kind) {
    case 'write-logged':
      return (
        <>
          <strong>Logged</strong> {counted(operations, 'operation')} in {counted(records, 'record')} of {event.log}, which now has {byteSize(event.logByteLength)}
          {event.isSynced ? ', and synced it.' : '.'}
        </>
      );
    case 'memtable-switched':
      return (
        <>
          <strong>Memtable switched</strong> with {counted(event.entries, 'entry')}. Writes go to a new one, and to {event.nextLog}.
        </>
      );
    case 'cleared':
      return (
        <>
          <strong>Cleared</strong>: the database is empty. Writes go to {event.nextLog}.
        </>
      );
    case 'flush-began':
      return (
        <>
          <strong>Flush began</strong>: the memtable of {event.log} becomes {event.table}.
        </>
      );
    case 'flush-ended':
      return event.table === undefined ? (
        <>
          <strong>Flush ended</strong>: the memtable was empty, so there is no new table.
        </>
      ) : (
        <>
          <strong>Flush ended</strong>: {event.table.table} has {counted(event.table.entries, 'entry')} in {byteSize(event.table.byteLength)}, {counted(event.table.filters, 'filter')} of{' '}
          {counted(event.table.filterBytes, 'byte')}, and is added to level {event.level}.
        </>
      );
    case 'compaction-chosen': {
      const [upper, lower] = event.inputs;
      return event.isMove ? (
        <>
          <strong>Move chosen</strong>: {upper.join(', ')} moves unchanged from level {event.level} to level {event.level + 1}, because {REASONS[event.reason]}.
        </>
      ) : (
        <>
          <strong>Compaction chosen</strong>: {counted(upper.length, 'table')} of level {event.level} and {count(lower.length)} of level {event.level + 1}, because {REASONS[event.reason]}.
        </>
      );
    }
    case 'compaction-output':
      return (
        <>
          <strong>Output</strong> {event.table.table}: {counted(event.table.entries, 'entry')}, {counted(event.table.filters, 'filter')}, {byteSize(event.table.byteLength)}.
        </>
      );
    case 'compaction-ended':
      return (
        <>
          <strong>Compaction ended</strong>: {counted(event.entriesRead, 'entry')} read, {count(event.entriesWritten)} written. {counted(event.shadowedDropped, 'hidden version')} and{' '}
          {counted(event.deletionsDropped, 'deletion')} were dropped.
        </>
      );
    case 'version-installed':
      return (
        <>
          <strong>Version installed</strong> in {event.manifest}: {counted(event.added.length, 'table')} added, {count(event.removed.length)} removed.
        </>
      );
    case 'files-deleted':
      return (
        <>
          <strong>Deleted</strong> {event.files.join(', ')}: {event.files.length === 1 ? 'it is' : 'they are'} no longer needed.
        </>
      );
    case 'log-replayed':
      return (
        <>
          <strong>Log replayed</strong>: {event.log} held {counted(event.operations, 'operation')}
          {event.tables.length === 0 ? '.' : `, which are now in ${event.tables.map(({ table }) => table).join(', ')}.`}
        </>
      );
    case 'lock-limited':
      return (
        <>
          <strong>Lock with limits</strong>: {event.message}.
        </>
      );
    case 'writing-ended':
      return (
        <>
          <strong>Writing ended</strong>: {event.message}
        </>
      );
    case 'crashed':
      return (
        <>
          <strong>{event.how === 'power' ? 'The power failed' : 'The program crashed'}</strong> after write {count(BigInt(event.lastSequence))}.{' '}
          {event.how === 'power' ? 'Everything that was not synced is lost.' : 'Everything that it passed to the operating system is still there.'}
        </>
      );
    case 'reopened':
      return (
        <>
          <strong>Reopened</strong>: {event.lost === 0 ? 'no write is lost.' : event.lost === 1 ? 'the last write is lost; all earlier ones are there.' : `the last ${count(event.lost)} writes are lost; all earlier ones are there.`}
        </>
      );
  }
}
