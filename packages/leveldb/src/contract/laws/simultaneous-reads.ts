import { seeded } from '@bloom/bytes';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';
import { differenceOf } from '../show.js';

const NAMES = ['000005.ldb', '000007.ldb'];
const READS = 32;

export async function simultaneousReads(run: LawRun, place: ReadingPlace): Promise<void> {
  const held = new Map(NAMES.map((name, i) => [name, contents(i, 8000)]));
  const folder = await place.folderWith(held);
  const random = seeded(4);
  const files = await Promise.all([...NAMES, ...NAMES].map(async (name) => ({ name, file: await run.open(folder, name) })));
  const reads = [];
  for (let i = 0; i < READS; i++) {
    const { name, file } = files[i % files.length]!;
    const offset = random.below(7000);
    const length = 1 + random.below(1000);
    reads.push({ name, file, offset, length, alone: (await run.read(file, name, offset, length)).slice() });
  }
  await Promise.all(
    reads.map(async ({ name, file, offset, length, alone }) => {
      const difference = differenceOf(await run.read(file, name, offset, length), alone);
      if (difference !== undefined) run.fail(`read(${offset}, ${length}) of "${name}" gives other bytes when other reads are under way`);
    }),
  );
  for (const { file } of files) await run.closeFile(file);
}
