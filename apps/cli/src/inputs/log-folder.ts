/** Folders made from a file: a database of one log, and a database read by another MANIFEST than that in CURRENT. */
import { encodeVersionEdit, type Folder, MemoryFolder, parseFileName, type SyncFolder } from '@bloom/leveldb';
import { type LogSink, LogWriter } from '@bloom/log';

/** The number of a log whose name has none. */
const ANY_NUMBER = 3n;

/**
 * A database that consists of one log.
 *
 * @param name the log's name, for messages.
 * @param comparator the name of the order of its keys, which is not stored in a log.
 */
export function folderOfLog(bytes: Uint8Array, name: string, comparator: string): SyncFolder {
  const type = parseFileName(name);
  const number = type?.type === 'log' ? type.number : ANY_NUMBER;
  const manifest = `MANIFEST-${String(number + 1n).padStart(6, '0')}`;
  const edit = encodeVersionEdit({ comparator, logNumber: number, previousLogNumber: 0n, nextFileNumber: number + 2n, lastSequence: 0n });
  return new MemoryFolder(
    {
      CURRENT: Buffer.from(`${manifest}\n`, 'latin1'),
      [manifest]: logOf(edit),
      [`${String(number).padStart(6, '0')}.log`]: bytes,
    },
    name,
  );
}

function logOf(record: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  const sink: LogSink = { append: (bytes) => void parts.push(bytes) };
  new LogWriter(sink).addRecord(record);
  return Buffer.concat(parts);
}

/** The folder, with a CURRENT that names this MANIFEST. */
export function withCurrent<T extends Folder>(folder: T, manifest: string): T {
  const current = new MemoryFolder({ CURRENT: Buffer.from(`${manifest}\n`, 'latin1') });
  const members: Partial<Record<PropertyKey, (name: string, ...rest: unknown[]) => unknown>> = {
    open: (name, ...rest) => (name === 'CURRENT' ? current.open(name) : Reflect.apply(folder.open.bind(folder), undefined, [name, ...rest] as [string])),
    identityOf: (name, ...rest) => (name === 'CURRENT' ? current.identityOf(name) : folder.identityOf?.(name, ...(rest as []))),
  };
  return new Proxy(folder, {
    get(target, member) {
      if (member in members && Reflect.get(target, member) !== undefined) return members[member];
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}
