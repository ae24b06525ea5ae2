import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

/** What a killed process has left has the name of a new file. */
export async function createdOver<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000005.ldb';
  const [before, after] = [contents(1, 5000), contents(2, 700)];
  await run.put(folder, name, before);
  const reader = await run.open(folder, name);
  const file = await run.create(folder, name);
  await run.mustHold(folder, name, new Uint8Array(0), ', after create() over a file of that name');
  await run.mustReadAsBefore(reader, name, before, ' when create() replaces the file');
  await run.append(file, after);
  await run.sync(file);
  await run.closeFile(file);
  await run.mustHold(folder, name, after, ', after create() over a file of that name');
  await run.mustReadAsBefore(reader, name, before, ' when create() has replaced the file');
  await run.closeFile(reader);
}
