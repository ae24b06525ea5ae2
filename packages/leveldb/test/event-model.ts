import type { DatabaseDescription, DatabaseEvent, TableMade } from '@bloom/leveldb';

interface LogSum {
  name: string | undefined;
  byteLength: number;
  entries: number;
}

/** What the events of one opening of a database add up to. */
export class EventModel {
  readonly events: DatabaseEvent[] = [];
  /** What contradicts what was said before. */
  readonly contradictions: string[] = [];
  lastSequence = 0n;
  /** Of each level, the bytes of its tables by their names. */
  readonly levels = Array.from({ length: 7 }, () => new Map<string, number>());
  /** The log that is written, and before it the one whose memtable is flushed. */
  readonly logs: LogSum[] = [{ name: undefined, byteLength: 0, entries: 0 }];
  /** The tables that were made, by name. */
  readonly made = new Map<string, TableMade>();
  readonly deleted = new Set<string>();
  #flushing: string | undefined;
  #compaction: { readonly level: number; readonly inputs: readonly string[]; readonly outputs: string[] } | undefined;

  /** The `onEvent` of a database. */
  readonly take = (event: DatabaseEvent): void => {
    this.events.push(event);
    try {
      this.#apply(event);
    } catch (error) {
      // Thrown on, it would be an unhandled rejection.
      this.contradictions.push(`${event.kind}: ${String(error)}`);
    }
  };

  /** Compares itself with a database that does nothing at the moment. @returns what differs, and what contradicted what was said before. */
  differencesFrom({ levels, logs, lastSequence }: DatabaseDescription): string[] {
    const shown = (value: unknown): string => JSON.stringify(value);
    const found = [...this.contradictions];
    const compare = (what: string, mine: unknown, theirs: unknown): void => {
      if (shown(mine) !== shown(theirs)) found.push(`${what}: ${shown(mine)} by the events, ${shown(theirs)} by describe()`);
    };
    for (const [level, tables] of levels.entries()) {
      const mine = [...this.levels[level]!].sort();
      compare(`level ${level}`, mine, tables.map(({ name, byteLength }) => [name, byteLength]).sort());
    }
    compare('last sequence', this.lastSequence.toString(), lastSequence.toString());
    compare(
      'logs',
      this.logs.map(({ name, byteLength, entries }, i) => [name ?? logs[i]?.name, byteLength, entries]),
      logs.map(({ name, byteLength, entries }) => [name, byteLength, entries]),
    );
    return found;
  }

  /** How many entries are stored in tables and memtables. */
  get storedEntries(): number {
    const inTables = this.levels.flatMap((tables) => [...tables.keys()].map((name) => this.made.get(name)!.entries));
    return [...inTables, ...this.logs.map(({ entries }) => entries)].reduce((sum, entries) => sum + entries, 0);
  }

  #apply(event: DatabaseEvent): void {
    const log = this.logs.at(-1)!;
    switch (event.kind) {
      case 'log-replayed':
        this.#saw(BigInt(event.lastSequence));
        for (const table of event.tables) this.#make(table);
        if (event.isReused) Object.assign(log, { name: event.log, byteLength: event.byteLength, entries: event.operations });
        return;
      case 'write-logged':
        must(BigInt(event.firstSequence) === this.lastSequence + 1n, `a write begins with ${event.firstSequence} after ${this.lastSequence}`);
        this.#saw(BigInt(event.firstSequence) + BigInt(event.operations) - 1n);
        must(log.name === undefined || log.name === event.log, `a write goes to ${event.log}, not to ${log.name}`);
        must(event.logByteLength > log.byteLength + event.byteLength, 'a log is shorter than its records');
        log.name = event.log;
        log.byteLength = event.logByteLength;
        log.entries += event.operations;
        return;
      case 'memtable-switched':
        must(log.name === undefined || event.log === log.name, `the memtable of ${event.log} is switched, not that of ${log.name}`);
        must(event.entries === log.entries, `${event.entries} entries are switched, ${log.entries} were logged`);
        must(this.logs.length === 1, 'two memtables wait to be flushed');
        this.logs.push({ name: event.nextLog, byteLength: 0, entries: 0 });
        return;
      case 'cleared':
        this.logs.splice(0, 2, { name: event.nextLog, byteLength: 0, entries: 0 });
        this.#saw(this.lastSequence + 1n);
        this.#flushing = this.#compaction = undefined;
        return;
      case 'flush-began':
        must(this.#flushing === undefined && event.entries === this.logs[0]!.entries, 'another memtable is flushed than was switched');
        this.#flushing = event.table;
        return;
      case 'flush-ended':
        must(event.table === undefined ? this.logs[0]!.entries === 0 : event.table.table === this.#flushing, 'another flush ended than began');
        if (event.table !== undefined) {
          must(event.table.entries === this.logs[0]!.entries, 'a flush wrote more or fewer entries than there were');
          this.#make(event.table);
        }
        return;
      case 'compaction-chosen': {
        const [upper, lower] = event.inputs;
        for (const name of upper) must(this.levels[event.level]!.has(name), `${name} is no table of level ${event.level}`);
        for (const name of lower) must(this.levels[event.level + 1]!.has(name), `${name} is no table of level ${event.level + 1}`);
        if (!event.isMove) this.#compaction = { level: event.level, inputs: [...upper, ...lower], outputs: [] };
        return;
      }
      case 'compaction-output':
        must(event.level === this.#compaction!.level + 1, 'an output is of another level');
        this.#compaction!.outputs.push(event.table.table);
        this.#make(event.table);
        return;
      case 'compaction-ended': {
        const { inputs, outputs } = this.#compaction!;
        const entriesOf = (names: readonly string[]): number => names.reduce((sum, name) => sum + this.made.get(name)!.entries, 0);
        must(JSON.stringify(event.outputs) === JSON.stringify(outputs), 'other outputs ended than were made');
        must(event.entriesRead === entriesOf(inputs), `${event.entriesRead} entries read, the inputs have ${entriesOf(inputs)}`);
        must(event.entriesWritten === entriesOf(outputs), 'other entries are written than the outputs have');
        must(event.entriesRead === event.entriesWritten + event.shadowedDropped + event.deletionsDropped, 'entries are lost');
        this.#compaction = undefined;
        return;
      }
      case 'version-installed':
        for (const { level, table } of event.removed) must(this.levels[level]!.delete(table), `${table} is removed from level ${level}, and is not there`);
        for (const { level, table, byteLength } of event.added) {
          must(this.made.get(table)?.byteLength === undefined || this.made.get(table)!.byteLength === byteLength, `${table} has another size`);
          this.levels[level]!.set(table, byteLength);
        }
        must(JSON.stringify(event.tables) === JSON.stringify(this.levels.map(({ size }) => size)), 'the levels have other numbers of tables');
        this.#saw(BigInt(event.lastSequence));
        // A version that takes the flushed table lets go of its log.
        if (this.logs.length === 2 && this.#flushing !== undefined && !event.removed.length) {
          this.logs.shift();
          this.#flushing = undefined;
        }
        return;
      case 'files-deleted':
        for (const file of event.files) {
          must(!this.levels.some((tables) => tables.has(file)), `${file} is deleted, and is part of the database`);
          this.deleted.add(file);
        }
        return;
      case 'lock-limited':
      case 'writing-ended':
    }
  }

  #make(table: TableMade): void {
    must(!this.made.has(table.table), `${table.table} is made twice`);
    this.made.set(table.table, table);
  }

  #saw(sequence: bigint): void {
    if (sequence > this.lastSequence) this.lastSequence = sequence;
  }
}

function must(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem);
}
