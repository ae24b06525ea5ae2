import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function deletedFiles<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const names = ['000005.ldb', '000005.ld', '00000', '000005.ldb.1', '000006.ldb'];
  const held = new Map(names.map((name, i) => [name, contents(i, 800 + i)]));
  for (const [name, bytes] of held) await run.put(folder, name, bytes);
  const [name, ...others] = names as [string, ...string[]];
  const reader = await run.open(folder, name);
  await run.delete(folder, name);
  await run.mustBeAbsent(folder, name, 'after it was deleted');
  await run.mustReadAsBefore(reader, name, held.get(name)!, ' when the file is deleted');
  await run.closeFile(reader);
  for (const other of others) await run.mustHold(folder, other, held.get(other)!, `, after "${name}" was deleted`);
  await run.call(`delete("${name}"), which was deleted before,`, () => folder.delete(name));
  await run.call('delete("000099.ldb"), which never was,', () => folder.delete('000099.ldb'));
  for (const other of others) await run.mustHold(folder, other, held.get(other)!, ', after files were deleted that are not there');
  const again = contents(9, 300);
  await run.put(folder, name, again);
  await run.mustHold(folder, name, again, ', when it is created again after it was deleted');
}
