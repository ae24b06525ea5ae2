// damaged-tables.test.ts runs this in a separate process, so that a hang or a lack of memory ends only that process. It damages
// `count` tables, from number `first` on, of the run with `seed`. It prints a line for each problem, `run` lines to show that
// it is alive, and a last line of JSON.
import process from 'node:process';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { baseTables, complaints, damagedTable, picker } from './damage-checks.js';
import { damageKinds } from './damage.js';

/** The milliseconds of processor time that a damaged table may take, plus one for every 4 KiB that a block may have. */
const MOST_MS = 2000;

const [seed, first, count] = process.argv.slice(2).map(Number) as [number, number, number];
const tables = baseTables();
const pick = picker(tables);
const kinds = Object.fromEntries(damageKinds.map((kind) => [kind, 0]));
const names = new Set<string>();
let slowest = 0;
let wrong = 0;

for (let run = first; run < first + count; run++) {
  if (run % 20 === 0) process.stdout.write(`run ${run}\n`);
  const { base, damaged, random } = damagedTable(seed, run, tables, pick);
  kinds[damaged.kind]!++;
  names.add(base.name);
  const before = process.cpuUsage();
  const list = await complaints(base, damaged, random);
  const { user, system } = process.cpuUsage(before);
  const milliseconds = (user + system) / 1000;
  slowest = Math.max(slowest, milliseconds);
  if (milliseconds > MOST_MS + base.options.maxBlockBytes / 4096) list.push(`takes ${milliseconds} ms`);
  for (const complaint of list.slice(0, 3)) {
    if (wrong++ < 2000) process.stdout.write(`wrong ${run}, ${base.name}, ${damaged.kind}: ${complaint.slice(0, 300)}\n`);
  }
}
const result = { tables: names.size, of: tables.length, kinds, slowest, wrong, peak: peakMemory() };
process.stdout.write(`${JSON.stringify(result)}\n`);
