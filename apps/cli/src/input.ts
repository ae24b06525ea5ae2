import { type BigIntStats, fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Failure, failureOf } from './failure.js';

const READ_BYTES = 256 * 1024;
const STDIN = 0;

/** What a table is built from: a file of any kind, or standard input. */
export interface Input {
  /** The name in messages. */
  readonly name: string;
  readonly stream: Readable;
  /** Its length in bytes; undefined if it has no length, as a pipe. */
  readonly byteLength: number | undefined;
}

/** What kind of file `path` is, or standard input for `-`. @throws Failure when it cannot be an input. */
export function inputStat(path: string): BigIntStats {
  if (path === '') throw new Failure('the name of the input is empty');
  try {
    const stat = path === '-' ? fstatSync(STDIN, { bigint: true }) : statSync(path, { bigint: true });
    // If standard input is a folder, Node would read it as empty.
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
