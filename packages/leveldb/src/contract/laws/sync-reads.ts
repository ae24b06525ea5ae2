import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';
import { differenceOf } from '../show.js';

export async function syncReads(run: LawRun, place: ReadingPlace): Promise<void> {
  const name = '000005.ldb';
  const bytes = contents(1, 5000);
  const folder = await place.folderWith(new Map([[name, bytes]]));
  const ranges = [[0, 5000], [1, 1], [4999, 1], [1234, 77]] as const;
  const file = await run.open(folder, name);
  const awaited = new Map<number, Uint8Array>();
  for (const [offset, length] of ranges) awaited.set(offset, (await run.call(`read(${offset}, ${length}) of "${name}"`, () => file.read(offset, length))).slice());
  // That these are the bytes of the file is for the law about reading.
  if (ranges.some(([offset, length]) => awaited.get(offset)!.length !== length)) return;
  const mustBe = (found: Uint8Array, what: string, offset: number): void => {
    const expected = awaited.get(offset)!;
    if (!(found instanceof Uint8Array) || differenceOf(found, expected) !== undefined) {
      run.fail(`${what}(${offset}, ${expected.length}) of "${name}" gives other bytes than read with a promise`);
    }
  };

  if (file.readSync !== undefined) {
    for (const [offset, length] of ranges) {
      const found = run.callSync(`readSync(${offset}, ${length}) of "${name}"`, () => file.readSync!(offset, length));
      mustBe(found, 'readSync', offset);
      const into = new Uint8Array(length);
      mustBe(run.callSync(`readSync(${offset}, ${length}, into) of "${name}"`, () => file.readSync!(offset, length, into)), 'readSync, with memory to read into,', offset);
    }
  }
  for (const [offset, length] of ranges) {
    if (file.readAtOnce === undefined) break;
    const found = run.callSync(`readAtOnce(${offset}, ${length}) of "${name}"`, () => file.readAtOnce!(offset, length));
    // It may have them another time.
    if (found !== undefined) mustBe(found, 'readAtOnce', offset);
    const into = new Uint8Array(length);
    const filled = run.callSync(`readAtOnce(${offset}, ${length}, into) of "${name}"`, () => file.readAtOnce!(offset, length, into));
    if (filled !== undefined) mustBe(filled, 'readAtOnce, with memory to read into,', offset);
  }
  if (file.hasChanged?.() === true) run.fail(`hasChanged() of "${name}" is true, and nobody has changed the file`);
  await run.closeFile(file);

  if (folder.openSync === undefined) return;
  const opened = run.callSync(`openSync("${name}")`, () => folder.openSync!(name));
  if (opened === undefined) run.fail(`openSync("${name}") gives undefined, and there is a file of that name`);
  if (opened.byteLength !== bytes.length) run.fail(`openSync("${name}") gives a file with a byteLength of ${opened.byteLength}, and it has ${bytes.length} bytes`);
  for (const [offset, length] of ranges) {
    mustBe(run.callSync(`read(${offset}, ${length}) of openSync("${name}")`, () => opened.read(offset, length)), 'read of openSync', offset);
    if (opened.readInto === undefined) continue;
    const into = new Uint8Array(length);
    const count = run.callSync(`readInto(${offset}) of "${name}"`, () => opened.readInto!(offset, into));
    if (count !== length) run.fail(`readInto(${offset}) of "${name}" reads ${count} of ${length} bytes`);
    mustBe(into, 'readInto', offset);
  }
  opened.close?.();
}
