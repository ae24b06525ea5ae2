/**
 * Records and items as lines of JSON Lines, for everything that exports them.
 *
 * | member | what it says |
 * | --- | --- |
 * | `database` and `store`, `origin`, `map`, … | where it is |
 * | `sequence`, `type`, `file` | of a version: its sequence as a string, `value` or `deletion`, the log or table that holds it |
 * | `key`, `primaryKey` | tagged JSON; without a key that cannot be read, and without a primary key that is the key |
 * | `value` | tagged JSON; without that of a deletion |
 * | `error` | instead of the value: `code` and `message` |
 * | `complete` | `false` where something follows an object of an unknown kind; otherwise it is left out |
 */
import { jsonText } from './json-text.js';
import { taggedJson, type TaggedJsonOptions } from './tagged-json.js';

/** A record or an item for {@link entryJson}. */
export interface JsonEntry {
  /** Members that say where it is, such as `database` and `store`. */
  readonly place?: Readonly<Record<string, string | number>> | undefined;
  /** Members of a version of it. */
  readonly version?: { readonly sequence: bigint | string; readonly type: string; readonly file: string } | undefined;
  /** Undefined where it cannot be read. */
  readonly key?: unknown;
  /** Left out where it is undefined or the same as `key`. */
  readonly primaryKey?: unknown;
  /** Absent for a deletion, and if there is an `error`. */
  readonly value: unknown;
  readonly isComplete: boolean;
  /** Why it cannot be read. */
  readonly error: { readonly code?: string | undefined; readonly message: string } | undefined;
}

/** How to write an entry. */
export interface EntryJsonOptions extends TaggedJsonOptions {
  /** Whether to leave the value out. */
  readonly omitValue?: boolean | undefined;
}

/**
 * A record or an item as a line of JSON Lines, without the line break.
 *
 * @example
 * ```ts
 * entryJson({ place: { store: 'notes' }, key: 1, value: new Date(0), isComplete: true, error: undefined });
 * // {"store":"notes","key":1,"value":{"$type":"Date","value":"1970-01-01T00:00:00.000Z"}}
 * ```
 * @throws what `taggedJson` and `jsonText` throw.
 */
export function entryJson({ place, version, key, primaryKey, value, isComplete, error }: JsonEntry, options: EntryJsonOptions = {}): string {
  const members: string[] = [];
  const add = (name: string, json: string): unknown => members.push(`${JSON.stringify(name)}:${json}`);
  for (const [name, part] of Object.entries(place ?? {})) add(name, JSON.stringify(part));
  if (version !== undefined) {
    add('sequence', JSON.stringify(String(version.sequence)));
    add('type', JSON.stringify(version.type));
    add('file', JSON.stringify(version.file));
  }
  if (key !== undefined) add('key', jsonText(taggedJson(key)));
  if (primaryKey !== undefined && primaryKey !== key) add('primaryKey', jsonText(taggedJson(primaryKey)));
  if (error !== undefined) add('error', JSON.stringify({ code: error.code, message: error.message }));
  else if (version?.type !== 'deletion' && options.omitValue !== true) add('value', jsonText(taggedJson(value, options)));
  if (error === undefined && !isComplete) add('complete', 'false');
  return `{${members.join(',')}}`;
}
