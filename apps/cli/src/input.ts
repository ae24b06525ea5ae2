import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Failure, failureOf } from './failure.js';

const READ_BYTES = 256 * 1024;
const STDIN = 0;

/** What a table is built of: a file of any kind, or standard input. */
export interface Input {
  /** For messages. */
  readonly name: string;
  readonly stream: Readable;
  /** Bytes of it; undefined for what has no size, such as a pipe. */
  readonly byteLength: number | undefined;
}

/** What kind of file `path` is, or standard input for `-`. @throws Failure when it cannot be an input. */
export function inputStat(path: string): BigIntStats {
  if (path === '') throw new Failure('the name of the input is empty');
  try {
    const stat = path === '-' ? fstatSync(STDIN, { bigint: true }) : statSync(path, { bigint: true });
    // Of a folder as standard input, Node would make an empty one.
    if (stat.isDirectory()) throw new Failure(`${nameOf(path)}: is a folder`);
    return stat;
  } catch (error) {
    throw failureOf(nameOf(path), error);
  }
}

/** Opens `path`, or standard input for `-`. @throws Failure when it cannot be read. */
export async function openInput(path: string, stat: BigIntStats): Promise<Input> {
  const name = nameOf(path);
  if (path === '-') return { name, stream: process.stdin, byteLength: undefined };
  try {
    const handle = await open(path);
    const byteLength = stat.isFile() ? Number(stat.size) : undefined;
    return { name, stream: handle.createReadStream({ highWaterMark: READ_BYTES }), byteLength };
  } catch (error) {
    throw failureOf(name, error);
  }
}

function nameOf(path: string): string {
  return path === '-' ? 'standard input' : path;
}
