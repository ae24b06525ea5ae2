/**
 * Builds a table of all words of an English word list, looks up present and absent words, with the table's filter and
 * without, and prints what the filter saved.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BloomFilterPolicy, idealFalsePositiveRate, probesFor } from '@bloom/policy';
import { SyncTable, type TableInfo } from '@bloom/sstable';
import { SyncFileSource, writeTable } from '@bloom/sstable/node';
import { lookUp, type Lookups, traceOne } from './lookups.js';
import { bold, count, dim, megabytes, percent, seconds, table, times } from './report.js';
import { misspell, presentWords, readWords } from './words.js';

const BITS_PER_KEY = 10;
const LOOKUPS = 20_000;
/** A present word and an absent one, followed through a lookup. */
const EXAMPLES = ['zebra', 'zebrx'];

const { words, origin } = await readWords();
const present = presentWords(words, LOOKUPS);
const absent = misspell(words, LOOKUPS);

const folder = await mkdtemp(join(tmpdir(), 'bloom-demo-'));
try {
  const path = join(folder, 'words.ldb');
  const started = performance.now();
  const entries = words.map((word, i) => [Buffer.from(word), Buffer.from(String(i + 1))] as const);
  const info = await writeTable(path, entries, { filterPolicy: new BloomFilterPolicy(BITS_PER_KEY) });
  reportTable(info, performance.now() - started);

  const source = SyncFileSource.open(path);
  try {
    // No cache: every read goes to the file, and is counted.
    const withFilter = SyncTable.open(source, { cache: null });
    const withoutFilter = SyncTable.open(source, { cache: null, filterPolicies: [] });

    reportExamples(withFilter);
    // Warms up first, so that compiling does not count for the table that happens to be first.
    for (const opened of [withoutFilter, withFilter]) lookUp(opened, present.slice(0, LOOKUPS / 10));
    reportLookups({
      presentWithout: lookUp(withoutFilter, present),
      presentWith: lookUp(withFilter, present),
      absentWithout: lookUp(withoutFilter, absent),
      absentWith: lookUp(withFilter, absent),
    });
  } finally {
    source.close();
  }
} finally {
  await rm(folder, { recursive: true });
}

function reportTable(info: TableInfo, milliseconds: number): void {
  console.log(bold(`${count(words.length)} English words in a table, with its filter and without`));
  console.log();
  table([
    ['words', `${origin.name} ${origin.version}, ${origin.licence}, ${origin.author}`],
    ['table', `${megabytes(info.byteLength)} in ${count(info.dataBlocks)} blocks, built in ${seconds(milliseconds)}`],
    [
      'filters',
      `${count(info.filters)} of them, ${megabytes(info.filterBytes)}: ` +
        `${((info.filterBytes * 8) / info.entries).toFixed(1)} bits per key, ${probesFor(BITS_PER_KEY)} probes`,
    ],
  ]);
}

function reportExamples(opened: SyncTable): void {
  console.log(`\n${bold('Two lookups')}`);
  const blocks = blockNumbers(opened);
  const rows = EXAMPLES.map((word) => {
    const { offset, filter, mayContain, reads, value } = traceOne(opened, word);
    return [
      word,
      `index: block ${count(blocks.get(offset) ?? 0)}`,
      `filter ${count(filter)}: ${mayContain ? 'maybe' : 'no'}`,
      reads === 1 ? '1 read' : `${count(reads)} reads`,
      value === undefined ? 'absent' : `found: word ${count(Number(value))}`,
    ];
  });
  table(rows);
}

/** The number of each data block, from 1, by its offset. */
function blockNumbers(opened: SyncTable): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  for (const word of words) {
    const offset = opened.approximateOffset(Buffer.from(word));
    if (!numbers.has(offset)) numbers.set(offset, numbers.size + 1);
  }
  return numbers;
}

function reportLookups(all: {
  presentWithout: Lookups;
  presentWith: Lookups;
  absentWithout: Lookups;
  absentWith: Lookups;
}): void {
  const { presentWithout, presentWith, absentWithout, absentWith } = all;
  console.log(`\n${bold(`${count(LOOKUPS)} lookups of present words, ${count(LOOKUPS)} of absent ones`)}`);
  const reads = (name: string, without: Lookups, withFilter: Lookups): string[] => [
    `${name}: block reads`,
    count(without.reads),
    count(withFilter.reads),
    ratio(without.reads, withFilter.reads, 'fewer'),
  ];
  const time = (name: string, without: Lookups, withFilter: Lookups): string[] => [
    `${name}: time`,
    seconds(without.milliseconds),
    seconds(withFilter.milliseconds),
    ratio(without.milliseconds, withFilter.milliseconds, 'faster'),
  ];
  table(
    [
      ['', 'without filter', 'with filter', ''],
      ['present words: found', count(presentWithout.found), count(presentWith.found), ''],
      reads('present words', presentWithout, presentWith),
      time('present words', presentWithout, presentWith),
      ['absent words: found', count(absentWithout.found), count(absentWith.found), ''],
      reads('absent words', absentWithout, absentWith),
      time('absent words', absentWithout, absentWith),
    ],
    [1, 2],
  );
  console.log(dim('  The tables have no cache: blocks are read from the file, which is in the OS page cache.'));

  console.log(`\n${bold('False positives')}`);
  const k = probesFor(BITS_PER_KEY);
  const theory = idealFalsePositiveRate({ bitsPerKey: BITS_PER_KEY, probes: k });
  table([
    [
      'measured',
      percent(absentWith.falsePositives / absentWith.filterAnswers),
      `${count(absentWith.falsePositives)} of ${count(absentWith.filterAnswers)} absent words`,
    ],
    [
      'theory',
      percent(theory),
      `(1 - e^(-k/b))^k for k = ${k} independent probes and b = ${BITS_PER_KEY} bits per key`,
    ],
  ]);

  const saved = absentWithout.reads - absentWith.reads;
  console.log(
    `\nThe filter saved ${count(saved)} of ${count(absentWithout.reads)} reads for words that are not there.`,
  );
}

function ratio(without: number, withFilter: number, comparative: string): string {
  const factor = without / Math.max(withFilter, Number.MIN_VALUE);
  return factor < 2 ? '' : `${times(factor)} times ${comparative}`;
}
