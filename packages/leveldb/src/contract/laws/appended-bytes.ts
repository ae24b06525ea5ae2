import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

/** Small records, blocks of a log, and a part of a table: some folders write long arrays otherwise than short ones. */
const LENGTHS = [1, 7, 0, 32_768, 300, 200_000, 1];

/** Where each array lies in a larger one. */
const BEFORE = 5;
const AFTER = 9;

export async function appendedBytes<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  await run.mustHold(folder, name, new Uint8Array(0), ', when it was created');
  let held: Uint8Array = new Uint8Array(0);
  for (const [i, length] of LENGTHS.entries()) {
    const around = contents(i, BEFORE + length + AFTER);
    const bytes = around.subarray(BEFORE, BEFORE + length);
    held = joined(held, bytes);
    await run.call(`append() of ${length} bytes`, () => file.append(bytes));
    await run.mustHold(folder, name, held, `, after ${i + 1} appends, of which the last had ${length} bytes and was not synced`);
  }
  await run.sync(file);
  await run.mustHold(folder, name, held, ', after sync');
  await run.closeFile(file);
  await run.mustHold(folder, name, held, ', after close');
}
