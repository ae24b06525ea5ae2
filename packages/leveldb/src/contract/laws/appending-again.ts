import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

/** With `reuseLogs`, a log and a MANIFEST of an earlier opening are continued. */
export async function appendingAgain<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  let held = contents(0, 5000);
  await run.put(folder, name, held);
  for (let round = 1; round <= 3; round++) {
    const file = await run.openForAppend(folder, name);
    // Nothing must be appended to the file: the database then begins another one.
    if (file === undefined) return;
    await run.mustHold(folder, name, held, ', after openForAppend()');
    const bytes = contents(round, 1000 * round);
    await run.append(file, bytes);
    held = joined(held, bytes);
    await run.mustHold(folder, name, held, `, after openForAppend() and append(), round ${round}`);
    await run.sync(file);
    await run.closeFile(file);
  }
  const untouched = await run.openForAppend(folder, name);
  if (untouched !== undefined) await run.closeFile(untouched);
  await run.mustHold(folder, name, held, ', after openForAppend() and close()');
}
