import type { Signal } from '@bloom/bytes';
import { mustBeBytes, mustBeOptions, mustBeSignal, throwIfAborted } from '@bloom/bytes/internal';
import { InputSteps, mustBeSteppable } from '../read/input-steps.js';
import { Replacement } from './replacement.js';
import { writeBytes } from './write-bytes.js';

/**
 * Writes the bytes of a table, which come in pieces, to `path`, completely or not at all. `writeTable` does the same with entries, and
 * says how the file takes its place.
 *
 * @param pieces each may be reused for the next one.
 * @param options `signal` stops the writing, also while a piece is awaited: nothing is left behind, and an existing file stays as it was.
 * @returns how many bytes were written.
 * @throws TypeError when `pieces` is not an iterable, or a piece is not a `Uint8Array`; whatever `pieces` throws; the system's error
 *   when the folder cannot be opened or the file cannot be written; and `FolderSyncError` as `writeTable` does.
 * @example
 * ```ts
 * const source = await FileSource.open('old.ldb');
 * const refiltered = await refilterTable(source, { filterPolicy: new FittedBloomFilterPolicy(10) });
 * await writeTableFile('new.ldb', refiltered.file());
 * ```
 */
export async function writeTableFile(path: string, pieces: AsyncIterable<Uint8Array>, options: { readonly signal?: Signal | undefined } = {}): Promise<number> {
  mustBeOptions('writeTableFile', options, { signal: true });
  const { signal } = options;
  if (signal !== undefined) mustBeSignal('signal', signal);
  throwIfAborted(signal);
  mustBeSteppable('pieces', pieces);
  const replacement = await Replacement.begin(path);
  try {
    const byteLength = await writePieces(replacement, pieces, signal);
    await replacement.finish(signal);
    return byteLength;
  } finally {
    await replacement.abandon();
  }
}

async function writePieces({ handle }: Replacement, pieces: AsyncIterable<Uint8Array>, signal: Signal | undefined): Promise<number> {
  const steps = new InputSteps('pieces', pieces, signal);
  let byteLength = 0;
  try {
    for (;;) {
      const step = await steps.next();
      if (step.done === true) return byteLength;
      const piece = step.value;
      mustBeBytes('piece', piece);
      await writeBytes(handle, piece);
      byteLength += piece.length;
      throwIfAborted(signal);
    }
  } finally {
    await steps.leave();
  }
}
