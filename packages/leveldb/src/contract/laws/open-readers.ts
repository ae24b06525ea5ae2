import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';
import { differenceOf } from '../show.js';

/** Readers open a log while it is written, and read it while it grows: what they see is a prefix of the writes. */
export async function openReaders<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  const parts = [contents(1, 500), contents(2, 40_000), contents(3, 90_000)];
  await run.append(file, parts[0]!);
  const reader = await run.open(folder, name);
  const read = await run.read(reader, name, 0, 500);
  for (const part of parts.slice(1)) {
    await run.append(file, part);
    await run.mustReadAsBefore(reader, name, parts[0]!, ' when the file grows');
    if (differenceOf(read, parts[0]!) !== undefined) run.fail(`an array that read() gave changes when "${name}" grows`);
  }
  await run.mustHold(folder, name, joined(...parts), ', when it is opened after it has grown');
  await run.closeFile(reader);
  await run.closeFile(file);
}
