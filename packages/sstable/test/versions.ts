// Versions of user keys, as a database stores them.
import type { KeyValue } from '@bloom/fixtures';
import { type DatabaseEntry, encodeInternalKey, kindOfType } from '@bloom/sstable/database';
import { hex } from './entries.js';

export interface Version {
  readonly userKey: Uint8Array;
  readonly sequence: bigint;
  readonly type: number;
  readonly value: Uint8Array;
}

export function stored(versions: readonly Version[]): KeyValue[] {
  return versions.map((version) => [encodeInternalKey(version), version.value]);
}

export function show(entry: Version | DatabaseEntry | undefined): string {
  if (entry === undefined) return 'none';
  const { key, kind } = 'kind' in entry ? entry : { key: entry.userKey, kind: kindOfType(entry.type) };
  return `${hex(key)}@${entry.sequence}:${kind}=${hex(entry.value)}`;
}
