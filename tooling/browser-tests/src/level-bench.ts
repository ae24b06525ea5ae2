// Compares levels in the origin private file system with browser-level, in Chromium with a profile on the disk:
// `npx pnpm@10 --filter @bloom/browser-tests level-bench [ROUNDS] [--write]`. They take turns, each after a run that is not measured, and the
// figures are medians, in microseconds per operation: in a page, where the level is in a worker of its own, and both in one worker. --write stores them for tooling/benchmarks/RESULTS.md.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { findWholeChromium } from './chromium.js';
import { BrowserOnDisk, bundled, Origin } from './origin.js';
import { startWorker } from './page-worker.js';
import type { LevelTimes } from './level-measure.js';

const { values: options, positionals } = parseArgs({ options: { write: { type: 'boolean', default: false } }, allowPositionals: true, args: process.argv.slice(2) });
const rounds = Number(positionals[0] ?? 5);
const executablePath = findWholeChromium();
if (executablePath === undefined) throw new Error('no whole Chromium on the PATH');

/** What our time may be at most in a worker, where no messages are sent, as a multiple of browser-level's. */
const goalOf = (figure: string): number | undefined => (/^(put|get)/.test(figure) ? 0.05 : /^(for await|nextv)/.test(figure) ? 0.25 : undefined);
const origin = await Origin.start(await bundled('level-page', 'level-worker', 'opfs-worker'));
const browser = new BrowserOnDisk(executablePath);
await browser.start();
const page = await browser.newPage(origin.url);
const worker = await startWorker(page, '/opfs-worker.js');

const contenders: Record<string, (name: string) => Promise<LevelTimes>> = {
  'BloomLevel, page': (name) => page.evaluate(`import('/level-page.js').then(({ BloomLevel, measureLevel }) => measureLevel(new BloomLevel('${name}')))`),
  'browser-level, page': (name) => page.evaluate(`import('/level-page.js').then(({ BrowserLevel, measureLevel }) => measureLevel(new BrowserLevel('${name}')))`),
  'BloomLevel, worker': (name) => worker.call('measure', name) as Promise<LevelTimes>,
  'browser-level, worker': (name) => worker.call('measureBrowserLevel', name) as Promise<LevelTimes>,
};

const nameOf = (...parts: readonly (string | number)[]): string => parts.join(' ').replaceAll(/\W+/g, '-');
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

try {
  const times = new Map<string, LevelTimes[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [contender, measure] of Object.entries(contenders)) {
      // Chromium goes on to write and delete what IndexedDB had, in another process, and forgets code that was not called for a while.
      await new Promise((resolve) => setTimeout(resolve, 2000));
      await measure(nameOf(contender, round, 'warming-up'));
      const found = await measure(nameOf(contender, round, 'measured'));
      times.set(contender, [...(times.get(contender) ?? []), found]);
    }
  }
  const medianOf = (contender: string, figure: string): number => median(times.get(contender)!.map((found) => found[figure]!));
  const columns = ['', 'page', 'browser-level', 'ratio', 'worker', 'browser-level', 'ratio', 'at most', ''];
  const rows: string[][] = [];
  for (const figure of Object.keys(times.get('BloomLevel, page')![0]!)) {
    const cellsOf = (where: string): [ours: number, theirs: number] => [medianOf(`BloomLevel, ${where}`, figure), medianOf(`browser-level, ${where}`, figure)];
    const [ours, theirs] = cellsOf('page');
    const [oursInWorker, theirsInWorker] = cellsOf('worker');
    const goal = goalOf(figure);
    rows.push([
      figure,
      ours.toFixed(1),
      theirs.toFixed(1),
      (ours / theirs).toPrecision(2),
      oursInWorker.toFixed(1),
      theirsInWorker.toFixed(1),
      (oursInWorker / theirsInWorker).toPrecision(2),
      goal === undefined ? '' : String(goal),
      goal === undefined ? '' : oursInWorker / theirsInWorker <= goal ? 'met' : 'not met',
    ]);
  }
  for (const cells of [columns, columns.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
  if (options.write) writeFileSync(join(import.meta.dirname, '../../benchmarks/results/browser-levels.json'), `${JSON.stringify([columns, ...rows], undefined, 2)}\n`);
} finally {
  await browser.stop();
  await origin.stop();
}
