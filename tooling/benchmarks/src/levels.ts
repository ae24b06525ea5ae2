// Measures BloomLevel against classic-level and memory-level.
//
//   npx pnpm@10 --filter @bloom/benchmarks levels [--quick] [--only REGEX] [--write]
//
// --write stores the figures, and writes RESULTS.md. Those of browsers are stored by `npx pnpm@10 --filter @bloom/browser-tests level-bench --write`;
// the page has them when it is written next.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { FigureRuns } from './figure-runs.js';
import { levelFigures } from './level-figures.js';
import { describeMachine, machineLine } from './machine.js';
import { comparisonTable, goalLine } from './report.js';
import { writeStored } from './results.js';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});

const only = new RegExp(options.only);
const packageFolder = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bloom-levels-'));
try {
  const rounds = options.quick ? 5 : 11;
  const pace = { clock: 'wall', rounds, warmUpMs: options.quick ? 200 : 400, sampleMs: options.quick ? 12 : 60 } as const;
  const runs = new FigureRuns({ packageFolder, folder, isQuick: options.quick, pace });
  const machine = describeMachine(packageFolder, undefined);
  const comparisons = await runs.run(levelFigures.filter(({ name }) => only.test(name)));
  console.log(`\nRatios are our time / their time, medians of ${rounds} alternating rounds.\n`);
  console.log(comparisonTable(comparisons));
  console.log(`\n${goalLine(comparisons)}\n${machineLine(machine)}`);
  if (options.write) writeStored(packageFolder, { levels: { machine, rounds, comparisons } });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
