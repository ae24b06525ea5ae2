import type { FolderFile } from '../../folder/folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';
import { differenceOf } from '../show.js';

const NAMES = ['000005.ldb', '000007.ldb'] as const;

export async function returnedBytes(run: LawRun, place: ReadingPlace): Promise<void> {
  const held = NAMES.map((name, i) => [name, contents(i, 6000)] as const);
  const folder = await place.folderWith(new Map(held));
  const files: FolderFile[] = [];
  for (const [name] of held) files.push(await run.open(folder, name));
  const kept: { readonly what: string; readonly bytes: Uint8Array; readonly expected: Uint8Array }[] = [];
  for (let offset = 0; offset < 6000; offset += 500) {
    for (const [i, [name, bytes]] of held.entries()) {
      const what = `read(${offset}, 500) of "${name}"`;
      const part = await run.call(what, () => files[i]!.read(offset, 500));
      kept.push({ what: `the array that ${what} gave`, bytes: part, expected: bytes.subarray(offset, offset + 500) });
      // What is wrong at once breaks the law about reading.
      if (differenceOf(part, bytes.subarray(offset, offset + 500)) !== undefined) return;
      const whatAtOnce = `readAtOnce(${offset}, 500) of "${name}"`;
      const atOnce = files[i]!.readAtOnce === undefined ? undefined : run.callSync(whatAtOnce, () => files[i]!.readAtOnce!(offset, 500));
      if (atOnce === undefined) continue;
      kept.push({ what: `the array that ${whatAtOnce} gave`, bytes: atOnce, expected: bytes.subarray(offset, offset + 500) });
      // Or the law about reads without a promise.
      if (!(atOnce instanceof Uint8Array) || differenceOf(atOnce, bytes.subarray(offset, offset + 500)) !== undefined) return;
    }
  }
  for (const { what, bytes, expected } of kept) {
    if (differenceOf(bytes, expected) !== undefined) run.fail(`${what} changes when other bytes are read`);
  }
  for (const file of files) await run.closeFile(file);
}
