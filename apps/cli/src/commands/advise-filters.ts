import { bloomBitsPerKey, type FilterPolicy, idealBitsPerKey } from '@bloom/policy';
import type { PolicyFigures } from '@bloom/policy/compare';
import { count } from '@bloom/report';
import { Failure } from '../failure.js';
import { shownName } from '../inputs/location.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { tracingFor } from '../inputs/opened-source.js';
import { noteAssumption, openDatabaseTable, openTable, withTableFile } from '../inputs/opened-table.js';
import { printJson, printLines } from '../outputs/output.js';
import { aligned } from '../outputs/screen-text.js';
import { loadPolicy } from '../plugins/plugin.js';
import { shippedPolicies } from '../plugins/shipped-policy.js';

/** The number of keys for which the bits per key are chosen. Filters with more keys have about the same rate, or a worse one. */
const CHOSEN_FOR_KEYS = 10_000;
const MOST_KEYS = 10_000_000;

export interface CompareOptions extends InputOptions {
  readonly keys?: number;
  readonly rate: number;
  readonly json?: true;
}

/** A policy, and its name on the command line. */
interface Candidate {
  readonly given: string;
  readonly policy: FilterPolicy;
}

/** `bloom advise filters`. */
export async function compareFilters(table: string | undefined, options: CompareOptions): Promise<void> {
  const { rate } = options;
  if (table === undefined && options.keys === undefined) throw new Failure('pass a table, or a number of random keys with --keys');
  if (table !== undefined && options.keys !== undefined) throw new Failure('pass either a table or --keys, not both');
  const keys = table === undefined ? options.keys! : await keysOf(table, options);
  const candidates = options.policy === undefined
    ? await candidatesFor(rate, typeof keys === 'number' ? keys : keys.length)
    : await Promise.all(options.policy.map(async (given) => ({ given, policy: await loadPolicy(given) })));
  const { comparePolicies } = await import('@bloom/policy/compare');
  const figures = comparePolicies(candidates.map(({ policy }) => policy), { keys });
  const rows = candidates.map(({ given }, i) => rowOf(given, figures[i]!));
  if (options.json) await printJson({ keys: typeof keys === 'number' ? keys : keys.length, rate, floorBits: Math.log2(1 / rate), policies: rows });
  else await printLines(linesOf(rows, rate));
}

/** The distinct keys of a table; for a database's table, the user keys. */
async function keysOf(table: string, options: CompareOptions): Promise<Uint8Array[]> {
  const tracing = await tracingFor(options);
  const location = await recognised(table, { ...options, tracing });
  if (isDatabase(location)) throw new Failure(`${shownName(table)}: filters are compared for the keys of one table: pass one of its tables`);
  return withTableFile(location, { ...options, tracing }, (file) => {
    noteAssumption(file, options);
    const keys: Uint8Array[] = [];
    if (file.isInternal) {
      for (const { key } of openDatabaseTable(file).entries()) {
        const last = keys.at(-1);
        if (last === undefined || Buffer.compare(last, key) !== 0) keys.push(key);
      }
    } else for (const key of openTable(file).keys()) keys.push(key);
    if (keys.length === 0) throw new Failure(`${file.path}: it has no keys`);
    if (keys.length > MOST_KEYS) throw new Failure(`${file.path}: it has more than ${count(MOST_KEYS)} keys`);
    tracing?.report(file.path);
    return keys;
  });
}

/** The shipped policies, each with the fewest bits that reach the rate, if it can be reached. */
async function candidatesFor(rate: number, keys: number): Promise<Candidate[]> {
  const bloomBits = bloomBitsPerKey(rate, Math.min(keys, CHOSEN_FOR_KEYS));
  const fuseBits = rate >= 2 ** -8 ? 8 : 16;
  // At a rate of 1%, filters with one cache line per key need a tenth more bits.
  const blockedBits = Math.min(64, Math.ceil(idealBitsPerKey(rate) * 1.04));
  const chosen: [keyof typeof shippedPolicies, number][] = [
    ...(bloomBits === undefined ? [] : [['bloom', bloomBits] satisfies [keyof typeof shippedPolicies, number]]),
    ['blocked', blockedBits],
    ['ribbon', rate],
    ['fuse', fuseBits],
  ];
  return Promise.all(chosen.map(async ([name, parameter]) => ({ given: `${name}:${parameter}`, policy: await shippedPolicies[name].make(parameter) })));
}

type Row = Omit<PolicyFigures, 'policy'> & { readonly policy: string };

function rowOf(policy: string, { policy: _, ...figures }: PolicyFigures): Row {
  return { policy, ...figures };
}

function linesOf(rows: readonly Row[], rate: number): string[] {
  const head = ['policy', 'bytes', 'bits per key', 'rate', 'build', 'probe', 'batch'];
  const nanoseconds = (time: number | undefined): string => (time === undefined ? '-' : `${time.toFixed(0)} ns`);
  const cells = rows.map(({ policy, byteLength, bitsPerKey, falsePositiveRate, buildNanoseconds, probeNanoseconds, batchNanoseconds }) => [
    policy,
    count(byteLength),
    bitsPerKey.toFixed(2),
    `${(falsePositiveRate * 100).toFixed(3)}%`,
    nanoseconds(buildNanoseconds),
    nanoseconds(probeNanoseconds),
    nanoseconds(batchNanoseconds),
  ]);
  return [...aligned([head, ...cells]), `No filter of a rate of ${Number((rate * 100).toPrecision(6))}% has fewer than ${Math.log2(1 / rate).toFixed(2)} bits per key.`];
}
