// Measures the command `bloom` against other programs. They alternate, and each run is a new process:
//
//   command [--write] [ENTRIES] [ROUNDS]
//
// A scan against sqlite3, gets and --version against an empty Node program, build --sort against sort(1) piped into build, and a merge
// of ten tables against the scan of one with the same entries.
// --write puts the results into RESULTS.md.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { spread } from './measure.js';
import { type CommandFigure, writeStored } from './results.js';
import { allKeys, KEY_LENGTH } from './workload.js';

const { values: options, positionals } = parseArgs({ options: { write: { type: 'boolean', default: false } }, allowPositionals: true });
const [entries = 5e6, longRounds = 5] = positionals.map(Number);
/** Short runs differ more from each other. */
const START_ROUNDS = 31;
const VALUE_LENGTH = 100;
const FEW_ENTRIES = 1e5;
const MERGED_TABLES = 10;
/** The step between entries of the unsorted input, a prime. */
const STRIDE = 7_919;
const bloom = fileURLToPath(new URL('../../../apps/cli/dist/bloom.cjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bloom-command-'));
const [sorted, unsorted, table, smallTable, built, database, out] = ['sorted.tsv', 'unsorted.tsv', 'table.ldb', 'small.ldb', 'built.ldb', 'table.db', 'out'].map(
  (name) => join(folder, name),
) as [string, string, string, string, string, string, string];

/** Runs a shell command. @returns its wall time, in milliseconds. */
function run(line: string, input = ''): number {
  const start = performance.now();
  const { status, stderr } = spawnSync('sh', ['-c', line], { input, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  if (status !== 0) throw new Error(`${line}: ${stderr}`);
  return performance.now() - start;
}

/** Writes lines of key, TAB and value, in the order of `numberOf`. */
function writeLines(path: string, keys: Uint8Array, numberOf: (i: number) => number): void {
  const file = openSync(path, 'w');
  let text = '';
  for (let i = 0; i < entries; i++) {
    const number = numberOf(i);
    const key = Buffer.from(keys.buffer, number * KEY_LENGTH, KEY_LENGTH).toString('latin1');
    text += `${key}\tvalue ${String(number * 31).padEnd(VALUE_LENGTH, 'x').slice(0, VALUE_LENGTH - 6)}\n`;
    if (text.length > 2 ** 20 || i === entries - 1) {
      writeSync(file, text);
      text = '';
    }
  }
  closeSync(file);
}

function sameFiles(a: string, b: string): boolean {
  return readFileSync(a).equals(readFileSync(b));
}

/** Runs both alternately, prints the medians, and stores them. */
function compare(
  figure: Pick<CommandFigure, 'what' | 'measure' | 'goal'>,
  runOurs: () => number,
  runTheirs: () => number,
  rounds = longRounds,
): void {
  // Otherwise, earlier writes would reach the disk during the measurement.
  run('sync');
  const times: { readonly ours: number; readonly theirs: number }[] = [];
  for (let round = 0; round < rounds; round++) times.push({ ours: runOurs(), theirs: runTheirs() });
  const ours = spread(times.map((time) => time.ours)).median;
  const theirs = spread(times.map((time) => time.theirs)).median;
  const verdict = figure.measure === 'ratio' ? `${(ours / theirs).toFixed(2)} times as long` : `${(ours - theirs).toFixed(0)} ms more`;
  console.log(`${figure.what}: ${ours.toFixed(0)} ms, ${theirs.toFixed(0)} ms: ${verdict}; the goal is ${figure.goal}`);
  measured.push({ ...figure, ours, theirs });
}

const measured: CommandFigure[] = [];
const node = process.execPath;
try {
  const keys = allKeys(entries);
  writeLines(sorted, keys, (i) => i);
  if (entries % STRIDE === 0) throw new RangeError(`ENTRIES must not be a multiple of ${STRIDE}`);
  writeLines(unsorted, keys, (i) => (i * STRIDE) % entries);
  run(`${node} ${bloom} build -q ${sorted} -o ${table}`);
  run(`head -n ${FEW_ENTRIES} ${sorted} | ${node} ${bloom} build -q - -o ${smallTable}`);
  run(`sqlite3 ${database}`, `create table entries(key text primary key, value text) without rowid;\n.mode tabs\n.import ${sorted} entries\n`);
  const key = Buffer.from(keys.buffer, (entries >> 1) * KEY_LENGTH, KEY_LENGTH).toString('latin1');

  compare(
    { what: `\`bloom scan\` of ${entries.toLocaleString('en')} entries, and sqlite3's select`, measure: 'ratio', goal: 1 },
    () => run(`${node} ${bloom} scan ${table} > ${out}`),
    () => run(`sqlite3 -tabs ${database} 'select key, value from entries order by key' > ${out}.sqlite3`),
  );
  if (!sameFiles(out, sorted) || !sameFiles(`${out}.sqlite3`, sorted)) throw new Error('a scan gave different entries');
  const first = Buffer.from(keys.buffer, 0, KEY_LENGTH).toString('latin1');
  for (const [path, wanted, count, goal] of [
    [table, key, entries, 35],
    [smallTable, first, FEW_ENTRIES, 28],
  ] as const) {
    // The first run stores compiled code.
    run(`${node} ${bloom} get ${path} ${wanted}`);
    compare(
      { what: `\`bloom get\` of one of ${count.toLocaleString('en')} entries, and \`node -e 0\``, measure: 'difference', goal },
      () => run(`${node} ${bloom} get ${path} ${wanted} > ${out}`),
      () => run(`${node} -e 0`),
      START_ROUNDS,
    );
  }
  compare(
    { what: '`bloom --version`, and `node -e 0`', measure: 'difference', goal: 8 },
    () => run(`${node} ${bloom} --version > ${out}`),
    () => run(`${node} -e 0`),
    START_ROUNDS,
  );
  compare(
    { what: '`bloom build --sort`, and `sort` piped into `bloom build -`', measure: 'ratio', goal: 1 },
    () => run(`${node} ${bloom} build -q --sort ${unsorted} -o ${built}`),
    () => run(`sort ${unsorted} | ${node} ${bloom} build -q - -o ${built}.sorted`),
  );
  if (!sameFiles(built, `${built}.sorted`) || !sameFiles(built, table)) throw new Error('the tables differ');
  const parts = Array.from({ length: MERGED_TABLES }, (_, i) => join(folder, `part-${i}.ldb`));
  for (const [i, part] of parts.entries()) run(`awk 'NR % ${MERGED_TABLES} == ${i}' ${sorted} | ${node} ${bloom} build -q - -o ${part}`);
  const merged = `${out}.merged`;
  compare(
    { what: `\`bloom merge\` of ${MERGED_TABLES} tables, and \`bloom scan\` of one with their entries`, measure: 'ratio', goal: 1.3 },
    () => run(`${node} ${bloom} merge -q ${parts.join(' ')} -o ${merged}`),
    () => run(`${node} ${bloom} scan ${table} > ${out}`),
  );
  if (!sameFiles(merged, table)) throw new Error('the merged table differs');
  if (options.write) writeStored(fileURLToPath(new URL('..', import.meta.url)), { command: measured });
} finally {
  rmSync(folder, { recursive: true });
}
