/**
 * LevelDB's properties of a database, in its own words.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::GetProperty`, and db/version_set.cc, `Version::DebugString`.
 */
import { decodeInternalKey } from '@bloom/sstable/database';
import type { Version } from '../format/version.js';

const MIB = 2 ** 20;

/** The work of flushes and compactions into one level. */
interface LevelWork {
  milliseconds: number;
  bytesRead: number;
  bytesWritten: number;
}

/** Adds up the work of flushes and compactions since the database was opened, by the level that they wrote to. */
export class CompactionStats {
  readonly #levels = new Map<number, LevelWork>();

  add(level: number, { milliseconds, bytesRead, bytesWritten }: Readonly<LevelWork>): void {
    const work = this.#levels.get(level) ?? { milliseconds: 0, bytesRead: 0, bytesWritten: 0 };
    work.milliseconds += milliseconds;
    work.bytesRead += bytesRead;
    work.bytesWritten += bytesWritten;
    this.#levels.set(level, work);
  }

  /** `leveldb.stats`: a line for each level that has tables, or that was written to. */
  toText({ levels, levelBytes }: Version): string {
    let text = '                               Compactions\n';
    text += 'Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n';
    text += '--------------------------------------------------\n';
    for (const [level, files] of levels.entries()) {
      const work = this.#levels.get(level);
      if (work === undefined && files.length === 0) continue;
      const { milliseconds, bytesRead, bytesWritten } = work ?? { milliseconds: 0, bytesRead: 0, bytesWritten: 0 };
      const cells = [padded(level, 3), padded(files.length, 8), rounded(levelBytes[level]! / MIB, 8), rounded(milliseconds / 1000, 9)];
      text += `${[...cells, rounded(bytesRead / MIB, 8), rounded(bytesWritten / MIB, 9)].join(' ')}\n`;
    }
    return text;
  }
}

/** `leveldb.sstables`: a line for each table, with its number, its bytes, and its first and last key. */
export function tablesToText({ levels }: Version): string {
  return levels
    .map((files, level) => {
      const lines = files.map(({ number, size, smallest, largest }) => ` ${number}:${size}[${keyToText(smallest)} .. ${keyToText(largest)}]\n`);
      return `--- level ${level} ---\n${lines.join('')}`;
    })
    .join('');
}

function keyToText(bytes: Uint8Array): string {
  const key = decodeInternalKey(bytes);
  return key === undefined ? `(bad)${escaped(bytes)}` : `'${escaped(key.userKey)}' @ ${key.sequence} : ${key.type}`;
}

function escaped(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`)).join('');
}

function padded(number: number, width: number): string {
  return String(number).padStart(width);
}

/** As printf's `%.0f`, which rounds halves to the even number. */
function rounded(number: number, width: number): string {
  const below = Math.floor(number);
  const isUp = number - below > 0.5 || (number - below === 0.5 && below % 2 === 1);
  return padded(isUp ? below + 1 : below, width);
}
