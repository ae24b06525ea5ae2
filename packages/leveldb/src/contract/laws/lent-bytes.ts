import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';
import { differenceOf } from '../show.js';

/** Below and above what folders write at once. */
const LENGTHS = [100, 4000, 100_000, 100];

export async function lentBytes<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  const lent = new Uint8Array(Math.max(...LENGTHS));
  const held: Uint8Array[] = [];
  for (const [i, length] of LENGTHS.entries()) {
    const bytes = contents(i, length);
    held.push(bytes);
    lent.set(bytes);
    await run.call(`append() of ${length} bytes`, () => file.append(lent.subarray(0, length)));
    if (differenceOf(lent.subarray(0, length), bytes) !== undefined) run.fail('append() changes the bytes that it was lent');
    lent.fill(0xee);
  }
  await run.mustHold(folder, name, joined(...held), ', after the arrays that append() was lent were changed');
  await run.sync(file);
  await run.closeFile(file);
  await run.mustHold(folder, name, joined(...held), ', after the arrays that append() was lent were changed and the file was closed');
}
