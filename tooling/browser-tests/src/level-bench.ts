// Compares levels in the origin private file system with browser-level, in Chromium with a profile on the disk:
// `npx pnpm@10 --filter @bloom/browser-tests level-bench [ROUNDS]`. They take turns, and the figures are medians, in microseconds per
// operation: in a page, where the level is in a worker of its own, and both in one worker.
import process from 'node:process';
import { BrowserOnDisk, bundled, Origin } from './origin.js';
import { startWorker } from './page-worker.js';
import type { LevelTimes } from './level-measure.js';

const rounds = Number(process.argv[2] ?? 5);
const origin = await Origin.start(await bundled('level-page', 'level-worker', 'opfs-worker'));
const browser = new BrowserOnDisk();
await browser.start();
const page = await browser.newPage(origin.url);
const worker = await startWorker(page, '/opfs-worker.js');

const contenders: Record<string, (name: string) => Promise<LevelTimes>> = {
  'BloomLevel, page': (name) => page.evaluate(`import('/level-page.js').then(({ BloomLevel, measureLevel }) => measureLevel(new BloomLevel('${name}')))`),
  'browser-level, page': (name) => page.evaluate(`import('/level-page.js').then(({ BrowserLevel, measureLevel }) => measureLevel(new BrowserLevel('${name}')))`),
  'BloomLevel, worker': (name) => worker.call('measure', name) as Promise<LevelTimes>,
  'browser-level, worker': (name) => worker.call('measureBrowserLevel', name) as Promise<LevelTimes>,
};

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

try {
  const times = new Map<string, LevelTimes[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [contender, measure] of Object.entries(contenders)) {
      const found = await measure(`${contender} ${round}`.replaceAll(/\W+/g, '-'));
      times.set(contender, [...(times.get(contender) ?? []), found]);
    }
  }
  const medianOf = (contender: string, figure: string): number => median(times.get(contender)!.map((found) => found[figure]!));
  console.log('| | page | browser-level | ratio | worker | browser-level | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const figure of Object.keys(times.get('BloomLevel, page')![0]!)) {
    const cells = ['page', 'worker'].flatMap((where) => {
      const [ours, theirs] = [medianOf(`BloomLevel, ${where}`, figure), medianOf(`browser-level, ${where}`, figure)];
      return [ours, theirs, (ours / theirs).toPrecision(2)];
    });
    console.log(`| ${[figure, ...cells].join(' | ')} |`);
  }
} finally {
  await browser.stop();
  await origin.stop();
}
