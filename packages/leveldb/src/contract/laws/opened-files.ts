import { seeded } from '@bloom/bytes';
import { contents } from '../contents.js';
import type { ReadingPlace } from '../places.js';
import type { LawRun } from '../law-run.js';
import { differenceOf, shownName } from '../show.js';

const FILES: ReadonlyMap<string, Uint8Array> = new Map([
  ['CURRENT', contents(1, 16)],
  ['000005.ldb', contents(2, 10_000)],
  ['000003.log', new Uint8Array(0)],
]);

/** Lengths and offsets of pieces, from one byte to nearly all of the file. */
const PIECES = 40;

export async function openedFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(FILES);
  const random = seeded(3);
  for (const [name, bytes] of FILES) {
    const file = await run.open(folder, name);
    await run.mustRead(file, name, bytes);
    for (let i = 0; i < PIECES && bytes.length > 0; i++) {
      const offset = random.below(bytes.length);
      const length = 1 + random.below(bytes.length - offset);
      const difference = differenceOf(await run.read(file, name, offset, length), bytes.subarray(offset, offset + length));
      if (difference !== undefined) run.fail(`read(${offset}, ${length}) of ${shownName(name)} ${difference}`);
    }
    for (const [offset, length] of [[bytes.length, 1], [Math.max(0, bytes.length - 4), 8], [bytes.length + 100, 10]] as const) {
      await mustInventNothing(run, () => file.read(offset, length), bytes, offset, `read(${offset}, ${length}) of ${shownName(name)}, which has ${bytes.length} bytes,`);
    }
    await run.closeFile(file);
  }
}

/** A range that is not inside the file fails, or gives what there is of it. */
async function mustInventNothing(run: LawRun, read: () => Uint8Array | Promise<Uint8Array>, bytes: Uint8Array, offset: number, what: string): Promise<void> {
  const outcome = await run.outcomeOf(what, read);
  if ('error' in outcome) return;
  const found = outcome.answer;
  if (!(found instanceof Uint8Array)) run.fail(`${what} gives no Uint8Array`);
  if (found.length > Math.max(0, bytes.length - offset)) run.fail(`${what} gives ${found.length} bytes, more than there are`);
  const difference = differenceOf(found, bytes.subarray(offset, offset + found.length));
  if (difference !== undefined) run.fail(`${what} ${difference}`);
}
