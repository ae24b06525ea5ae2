import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isGitLfsPointer, isMarkup } from '@bloom/bytes/internal';
import { CorruptionError, type SyncSource, UnsupportedError } from '@bloom/sstable';
import { Failure, failureOf } from '../failure.js';
import { CODEC_ADVICE } from '../library-advice.js';
import { GZIP_MAGIC, gunzipAdvice } from './recognized-file.js';

/** The number of bytes at the start of a file that show whether it is text. */
const TEXT_BYTES = 512;

/**
 * Turns an error about a table into a failure that names it and gives advice. Returns other errors unchanged.
 *
 * @param source undefined if it cannot be read synchronously.
 */
export function tableFailure(name: string, source: Pick<SyncSource, 'byteLength' | 'read'> | undefined, error: unknown, isInternal: boolean, byteLength = source?.byteLength): unknown {
  const failure = failureOf(name, error);
  if (!(failure instanceof Failure && (error instanceof CorruptionError || error instanceof UnsupportedError))) return failure;
  if (error.code === 'BLOOM_NOT_A_TABLE' && isBesideTables(name)) return new Failure(`${failure.message}; pass the database's folder, ${dirname(name)}`, { cause: error });
  // There is no advice for another empty file.
  if (byteLength === 0) return failure;
  // The error names the program that opens it.
  if (error.code === 'BLOOM_UNSUPPORTED_FORMAT') return failure;
  // The error says how to get the file.
  if (isGitLfsPointer(startOf(source))) return failure;
  return new Failure(`${failure.message}; ${adviceFor(name, source, error, isInternal)}`, { cause: error });
}

/** Whether a file is one of those in a database's folder that hold no entries. */
function isBesideTables(path: string): boolean {
  return /^(?:LOCK|LOG|LOG\.old|\d+\.dbtmp)$/.test(basename(path)) && existsSync(join(dirname(path), 'CURRENT'));
}

function adviceFor(name: string, source: Pick<SyncSource, 'byteLength' | 'read'> | undefined, error: CorruptionError | UnsupportedError, isInternal: boolean): string {
  const { code } = error;
  if (isInternal && code === 'BLOOM_BAD_INTERNAL_KEY') return '--no-internal reads them as stored';
  if (code === 'BLOOM_UNSUPPORTED_CODEC') return CODEC_ADVICE;
  if (error instanceof UnsupportedError) return 'bloom layout shows what it consists of';
  if (code !== 'BLOOM_NOT_A_TABLE') return 'bloom verify lists all damage, and bloom salvage copies what can still be read';
  const start = startOf(source);
  if (GZIP_MAGIC.equals(start.subarray(0, GZIP_MAGIC.length))) return `it is compressed with gzip: ${gunzipAdvice(name)}`;
  if (isMarkup(start)) return 'it looks like an HTML page, which a server may have sent in its place';
  if (isText(start)) return 'it looks like text: bloom build makes a table of entries, one per line';
  return 'if it is a part of a table, bloom salvage copies the readable entries';
}

/** The first bytes of a file; none if it cannot be read synchronously. */
function startOf(source: Pick<SyncSource, 'byteLength' | 'read'> | undefined): Uint8Array {
  try {
    return source?.read(0, Math.min(source.byteLength, TEXT_BYTES)) ?? new Uint8Array(0);
  } catch {
    return new Uint8Array(0);
  }
}

/** Whether bytes are UTF-8 without control characters, as no block of a table is. */
function isText(start: Uint8Array): boolean {
  try {
    // The last character may be truncated.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return start.length > 0 && !/[^\P{Cc}\t\n\r]/u.test(text);
  } catch {
    return false;
  }
}
