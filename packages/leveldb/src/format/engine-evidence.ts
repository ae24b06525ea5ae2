/**
 * The bytes by which folders of other engines are recognized. RocksDB and Pebble began as copies of LevelDB: names, MANIFEST and logs are so
 * similar that a program for LevelDB takes their databases for damaged ones, and would rebuild a sound database without most of its entries.
 *
 * Source: RocksDB, db/version_edit.h, db/log_format.h and options/options_parser.cc; Pebble, internal/manifest/version_edit.go,
 * record/record.go and options.go; Badger, manifest.go; Basho's LevelDB, db/filename.cc.
 */
import { VarintReader } from '@bloom/bytes';
import { maskedCrc32c } from '@bloom/crc32c';
import { encryptedContentId, encryptedText, engineOfTable } from '@bloom/sstable/internal';
import { CURRENT, namesByAge } from './file-name.js';
import { decodeVersionEdit } from './version-edit.js';

/** A program whose databases look like LevelDB's but are not. */
export type ForeignEngineName = 'RocksDB' | 'Pebble' | 'Badger' | 'Riak' | "Minecraft's Marketplace";

/** The engine to which a folder belongs, if it is not LevelDB. */
export interface ForeignEngine {
  /** The possible engines: several if the evidence is the same for all of them. */
  readonly engines: readonly ForeignEngineName[];
  /** The file with the evidence. */
  readonly file: string;
  /** What the database is, and which program opens it: a sentence without its subject. */
  readonly text: string;
}

/** What a file reveals about the engine. */
export interface EngineEvidence {
  readonly engines: readonly ForeignEngineName[];
  /** What the file contains: a sentence without its subject, which is the file. */
  readonly found: string;
}

/** The programs that open a database of an engine. */
const TOOLS: Readonly<Record<Exclude<ForeignEngineName, "Minecraft's Marketplace">, string>> = {
  RocksDB: 'with RocksDB or its tool ldb',
  Pebble: 'with Pebble or its tool pebble',
  Badger: 'with Badger or its tool badger',
  Riak: "with Riak or Basho's eleveldb",
};

/**
 * Whether RocksDB, Pebble, Badger or Riak writes a file or folder of this name, and LevelDB does not. A name is only a hint, since any program may put an
 * `IDENTITY` into a folder; `foreignEngine` examines the bytes.
 *
 * @example
 * ```ts
 * isForeignName('OPTIONS-000007'); // true
 * ```
 */
export function isForeignName(name: string): boolean {
  return /^(?:OPTIONS-[0-9]+|IDENTITY|KEYREGISTRY|MANIFEST|marker\..+|[0-9]+\.(?:blob|vlog)|sst_[0-6])$/.test(name);
}

/** The folders into which Basho's LevelDB, which Riak uses, puts the tables of each level. */
const TABLE_FOLDERS = Array.from({ length: 7 }, (_, level) => `sst_${level}`);

/**
 * The engine of a folder whose tables are in seven other folders. Its MANIFEST and logs are LevelDB's, so LevelDB takes the tables for missing.
 *
 * @param names of all files and folders in the folder.
 */
export function engineOfNames(names: readonly string[]): ForeignEngine | undefined {
  const isRiak = names.includes(CURRENT) && TABLE_FOLDERS.every((name) => names.includes(name)) && namesByAge('table', names).length === 0;
  return isRiak ? foreignEngineOf({ engines: ['Riak'], found: 'to sst_6 hold its tables' }, TABLE_FOLDERS[0]!, names) : undefined;
}

/** The number of bytes of an OPTIONS file that contain the version of the engine. */
export const OPTIONS_START_LENGTH = 4096;

/** The engine of an OPTIONS file. @param start its first bytes. */
export function engineOfOptions(start: Uint8Array): EngineEvidence | undefined {
  const text = new TextDecoder().decode(start);
  const { engine, version } = /^\s*\[Version\]\s*$[^[]*?^\s*(?<engine>rocksdb|pebble)_version=(?<version>[\w.-]{1,40})\s*$/m.exec(text)?.groups ?? {};
  if (engine === undefined) return undefined;
  return { engines: [engine === 'rocksdb' ? 'RocksDB' : 'Pebble'], found: `has ${engine}_version=${version}` };
}

/** Bytes with which a Badger database's MANIFEST begins. */
export const BADGER_MAGIC_LENGTH = 4;

/** The engine of a file called MANIFEST, without a number. @param start its first bytes. */
export function engineOfPlainManifest(start: Uint8Array): EngineEvidence | undefined {
  if (String.fromCharCode(...start) !== 'Bdgr') return undefined;
  return { engines: ['Badger'], found: 'begins with Bdgr' };
}

/** Tags of version edits that LevelDB does not have, from the lowest to the highest. */
const FOREIGN_TAGS: readonly { readonly from: number; readonly to: number; readonly engines: readonly ForeignEngineName[] }[] = [
  { from: 10, to: 10, engines: ['RocksDB'] },
  { from: 100, to: 103, engines: ['RocksDB', 'Pebble'] },
  { from: 104, to: 108, engines: ['Pebble'] },
  // Pebble reads these, but does not write them.
  { from: 200, to: 203, engines: ['RocksDB'] },
  { from: 300, to: 300, engines: ['RocksDB'] },
  { from: 400, to: 401, engines: ['RocksDB'] },
  // Fields that an older RocksDB may ignore have this bit.
  { from: 8192, to: 8224, engines: ['RocksDB'] },
];

/** What a record of a MANIFEST reveals about its engine. */
export interface EditEvidence {
  /** Whether it names a comparator, in LevelDB's fields. */
  readonly hasComparator: boolean;
  /**
   * Found by the first tag that LevelDB does not have. It counts only in a MANIFEST that names a comparator: any byte can be a tag, and the
   * batches of a log, whose sequences begin with any byte, can begin with fields of LevelDB's.
   */
  readonly evidence: EngineEvidence | undefined;
}

/** The engine of a record of a MANIFEST. */
export function engineOfEdit(record: Uint8Array): EditEvidence {
  const place = { structure: 'version edit', offset: 0 } as const;
  let fieldsEnd = 0;
  let evidence: EngineEvidence | undefined;
  try {
    decodeVersionEdit(record, place, (end) => (fieldsEnd = end));
  } catch {
    const tag = new VarintReader(record, fieldsEnd).varint32();
    const engines = FOREIGN_TAGS.find(({ from, to }) => tag >= from && tag <= to)?.engines;
    evidence = engines && { engines, found: `has a version edit with tag ${tag}` };
  }
  const { comparator } = decodeVersionEdit(record.subarray(0, fieldsEnd), place);
  return { hasComparator: comparator !== undefined && isName(comparator), evidence };
}

/** Whether a text can be the name of a comparator. In a batch whose sequence begins with this field, it contains zeros. */
function isName(text: string): boolean {
  return /^[\x21-\x7e][\x20-\x7e]+$/.test(text);
}

/** The engine of a table. @param end the last 8 bytes of the file. */
export function engineOfTableEnd(end: Uint8Array): EngineEvidence | 'LevelDB' | undefined {
  const table = engineOfTable(end);
  return table === undefined || table === 'LevelDB' ? table : { engines: [table.engine], found: `is ${table.kind}` };
}

const TYPE_OFFSET = 6;
/** Of a recyclable fragment: the number of the log after LevelDB's header. */
const RECYCLABLE = { from: 5, to: 8, headerLength: 11, engines: ['RocksDB', 'Pebble'] } as const;
/** Of Pebble's: the number of the log, and how far the log is synced. */
const SYNCED = { from: 9, to: 12, headerLength: 19, engines: ['Pebble'] } as const;

/** With LevelDB's header: how the later records of RocksDB's log are compressed, and the length of its timestamps. */
const SETTINGS = { from: 9, to: 10, headerLength: 7, engines: ['RocksDB'] } as const;

/** The engine of a log whose first fragment has a type that LevelDB does not have, and the right checksum. */
export function engineOfLogStart(start: Uint8Array): EngineEvidence | undefined {
  const type = start[TYPE_OFFSET] ?? 0;
  const view = new DataView(start.buffer, start.byteOffset, start.length);
  for (const { from, to, headerLength, engines } of [RECYCLABLE, SYNCED, SETTINGS]) {
    if (type < from || type > to) continue;
    const end = headerLength + view.getUint16(4, true);
    if (end <= start.length && maskedCrc32c(start.subarray(TYPE_OFFSET, end)) === view.getUint32(0, true)) return { engines, found: `has a record of type ${type}` };
  }
  return undefined;
}

/** The engine of an encrypted file. @param start its first 256 bytes. @returns what the file is, in `found`. */
export function engineOfEncryptedFile(start: Uint8Array): EngineEvidence | undefined {
  const id = encryptedContentId(start);
  return id === undefined ? undefined : { engines: ["Minecraft's Marketplace"], found: `is ${encryptedText(id)}` };
}

/**
 * Describes the engine to which the database belongs.
 *
 * @param names of all files of the folder, which distinguish engines that write the same bytes.
 */
export function foreignEngineOf({ engines: possible, found }: EngineEvidence, file: string, names: readonly string[]): ForeignEngine {
  if (possible[0] === "Minecraft's Marketplace") return { engines: possible, file, text: found };
  const isOne = (engine: ForeignEngineName): boolean =>
    engine === 'Pebble' ? names.some((name) => name.startsWith('marker.')) : names.includes('IDENTITY');
  const likely = possible.filter(isOne);
  const engines = likely.length === 1 ? likely : possible;
  const tools = engines.map((engine) => TOOLS[engine as keyof typeof TOOLS]).join(', or ');
  return { engines, file, text: `is a ${engines.join(' or ')} database, not a LevelDB database (${file} ${found}): open it ${tools}` };
}
