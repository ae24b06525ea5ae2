/** Readers of what browsers stored that are written in Python, in pinned versions. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Comparable } from './comparable-value.js';

export const PYTHON_PACKAGES = ['dfindexeddb==20260210', 'chromium-reader==0.1.1'] as const;

const environment = join(tmpdir(), `bloom-python-readers-${PYTHON_PACKAGES.join('-').replaceAll(/[^\w.]+/gu, '-')}`);
const python = join(environment, 'bin/python');

/** The names of the readers in `read_storage.py`. */
export type PythonReader = 'dfindexeddb' | 'chromium-reader' | 'chromium-values' | 'chromium-local' | 'chromium-session';

/** The output of a reader for a record or an item. */
export interface PythonLine {
  readonly sequence: number;
  readonly key?: Comparable;
  readonly value?: Comparable;
  /** The exception that it raises instead. */
  readonly error?: string;
}

/** Installs the readers, unless they are installed. @returns the reason if that is impossible. */
export function installPythonReaders(): string | undefined {
  try {
    if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', environment], { stdio: 'pipe' });
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PYTHON_PACKAGES], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Reads a folder. */
export function readWithPython(reader: PythonReader, folder: string): PythonLine[] {
  const script = join(import.meta.dirname, '../python/read_storage.py');
  const output = execFileSync(python, [script, reader, folder], { encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] });
  return output.split('\n').slice(0, -1).map((line) => JSON.parse(line) as PythonLine);
}

/** Reads all records of a folder with their values. @returns their number, and the processor time in seconds. */
export function timeWithPython(reader: 'dfindexeddb' | 'chromium-reader', folder: string): [number, number] {
  const script = join(import.meta.dirname, '../python/time_records.py');
  const [count, seconds] = execFileSync(python, [script, reader, folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split(' ').map(Number);
  return [count!, seconds!];
}
