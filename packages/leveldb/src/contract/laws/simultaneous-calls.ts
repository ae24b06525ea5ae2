import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

const COUNT = 8;

/** Tables are written and obsolete files are deleted in the background, while callers write to the log. Calls of one file never overlap. */
export async function simultaneousCalls<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const obsolete = Array.from({ length: COUNT }, (_, i) => `${i}.ldb`);
  const moved = Array.from({ length: COUNT }, (_, i) => `${i}.dbtmp`);
  for (const [i, name] of [...obsolete, ...moved].entries()) await run.put(folder, name, contents(i, 40));
  const names = Array.from({ length: COUNT }, (_, i) => `${i}.log`);
  await Promise.all([
    ...names.map(async (name, i) => {
      const file = await run.create(folder, name);
      const bytes = contents(i, 3000);
      for (let offset = 0; offset < 3000; offset += 1000) await run.append(file, bytes.slice(offset, offset + 1000));
      await run.sync(file);
      await run.closeFile(file);
    }),
    ...obsolete.map((name) => run.delete(folder, name)),
    ...moved.map((name, i) => run.rename(folder, name, `${i}.moved`)),
    run.names(folder),
    run.syncFolder(folder),
  ]);
  for (const [i, name] of names.entries()) await run.mustHold(folder, name, contents(i, 3000), ', which was written at the same time as others');
  for (const name of obsolete) await run.mustBeAbsent(folder, name, 'that was deleted at the same time as others');
  for (const [i, name] of moved.entries()) {
    await run.mustBeAbsent(folder, name, 'that was renamed at the same time as others');
    await run.mustHold(folder, `${i}.moved`, contents(COUNT + i, 40), ', to which a file was renamed at the same time as others');
  }
}
