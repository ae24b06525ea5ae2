import type { TableSearch } from '@bloom/sstable';
import { type DatabaseEntry, encodeInternalKey, MAX_SEQUENCE, VALUE } from '@bloom/sstable/database';
import { type Command, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { ByteBuffer } from '../formats/byte-buffer.js';
import type { Columns } from '../formats/format-contract.js';
import { formatHelp, formatNames } from '../formats/format.js';
import { factsOf, storedKey } from '../formats/version.js';
import { addDamageOption, mustBeForFolder, noteDatabase } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUT } from '../inputs/input-help.js';
import { keyArgument } from '../inputs/key-argument.js';
import { keyId } from '../inputs/key-id.js';
import { keysFrom } from '../inputs/keys-file.js';
import { type Input, withInputs } from '../inputs/opened-input.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, openDatabaseTable, openTable, type TableFile } from '../inputs/opened-table.js';
import { EntryOutput, NO_FACTS } from '../outputs/entry-output.js';
import { drain, flush, note } from '../outputs/output.js';
import { addPluginOptions } from '../plugins/plugin-options.js';
import { DECODE_OPTION } from './decode-option.js';
import { type Answer, DELETED, type GetOptions, type Lookup } from './get-answer.js';

const LF = 10;
/** Up to this many keys, reading their blocks takes less time than reading the filters of a large table. */
const FEW_KEYS = 32;
/** How many characters to show of a key that is not found. */
const SHOWN_CHARACTERS = 200;
const VERSION_FACTS = ['sequence', 'type', 'file'] as const;

export function addGet(program: Command): void {
  const command = program
    .command('get')
    .summary('print the values of keys')
    .description(
      "Prints the value of each KEY, one per line, in the order of the arguments. Exits with 1 if a key is absent. In a folder, log or table of a database, KEY is a user key: its newest version is printed, and a deleted key is absent. With -- before the keys, there can be several INPUTs, and each key is taken from the first one that has it.",
    )
    .argument('<input>', INPUT)
    .argument('[keys...]', 'the keys')
    .option('--hex', 'keys and values are in hexadecimal')
    .option('--keys <file>', 'read more keys from FILE, one per line (- is standard input); all arguments before -- are then inputs')
    .addOption(new Option('-f, --format <format>', 'print entries in this format, keys included, instead of values').choices(formatNames))
    .option('--all-versions', 'for a folder: print all stored versions of each key: key, sequence, type, file, value')
    .addOption(new Option(...DECODE_OPTION).conflicts(['explain', 'hex']))
    .addOption(new Option('--explain', 'print to standard error how each key was looked up: logs, tables, filters, blocks').conflicts('allVersions'));
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `${BUCKET_HELP}
Examples:
  bloom get capitals.ldb France
  bloom get capitals.ldb France Japan Peru
  bloom get --hex table.ldb 00ff68656c6c6f
  bloom get path/to/database user/42
  bloom get --all-versions path/to/database user/42
  bloom get --explain path/to/database user/42
  bloom get --decode 'Local Storage/leveldb' theme
  bloom get capitals.ldb -- -starts-with-a-dash
  bloom get today.ldb yesterday.ldb -- user/42 user/43
  bloom get capitals.ldb --keys wanted.txt -f jsonl
  bloom get https://example.org/capitals.ldb France --trace
${formatHelp()}`,
    )
    .action(get);
}

async function get(first: string, rest: readonly string[], options: GetOptions, command: Command): Promise<void> {
  const { paths, texts } = argumentsOf([first, ...rest], options, command);
  const keys = texts.map((text) => keyArgument(text, options.hex === true));
  if (options.keys !== undefined) {
    if (options.keys === '-' && paths.includes('-')) throw new Failure('stdin can be the input or the keys, not both: use a file for one of them');
    for (const key of keysFrom(options.keys, options.hex === true)) {
      keys.push(key);
      texts.push(options.hex ? Buffer.from(key).toString('hex') : Buffer.from(key).toString('utf8'));
    }
  }
  if (options.decode) return (await import('./decoded.js')).getDecoded(paths, texts, options);
  const traces = await Promise.all(paths.map(() => tracingFor(options)));
  const explain = options.explain ?? options.trace;
  const all = { ...options, explain, isWithoutFilters: explain !== true && keys.length <= FEW_KEYS };
  await withInputs(paths, (i) => ({ ...all, tracing: traces[i] }), async (inputs) => {
    for (const [i, input] of inputs.entries()) if (input.kind === 'table') prepare(paths[i]!, input.file, all);
    const lookups = await Promise.all(inputs.map((input, i) => lookupIn(input, keys, all, i === inputs.length - 1)));
    const printer = options.allVersions || options.format !== undefined ? entryPrinter(options) : valuePrinter(options);
    try {
      for (const [i, key] of keys.entries()) {
        if (await printFirst(inputs, lookups, key, printer.print)) continue;
        process.exitCode = EXIT.no;
        await printer.flush();
        note(`${shownKey(texts[i]!)}: not found`);
      }
    } finally {
      // Values that were found before a failure are printed.
      await printer.flush();
    }
    for (const [i, input] of inputs.entries()) {
      traces[i]?.report(input.file.path, input.kind === 'database' ? input.file.database.stats : openTable(input.file).stats);
    }
  });
}

/** Splits the arguments into inputs and keys. All arguments before `--` are inputs if there are several. */
function argumentsOf(all: readonly string[], { keys }: GetOptions, command: Command): { paths: readonly string[]; texts: string[] } {
  const { rawArgs } = command.parent as Command & { readonly rawArgs: readonly string[] };
  const dashes = rawArgs.indexOf('--');
  const after = dashes < 0 ? 0 : rawArgs.length - dashes - 1;
  const before = all.length - after;
  const inputs = keys !== undefined || dashes >= 0 ? Math.max(1, before) : 1;
  const texts = all.slice(inputs);
  if (texts.length === 0 && keys === undefined) throw new Failure('no key given: put keys after the input, or pass a file of keys with --keys');
  return { paths: all.slice(0, inputs), texts };
}

function prepare(given: string, file: TableFile, options: GetOptions): void {
  mustBeForFolder(file.path, '--all-versions', options.allVersions);
  noteAssumption(file, options);
  noteDatabase(given);
}

async function lookupIn(input: Input, keys: readonly Uint8Array[], options: GetOptions, isLast: boolean): Promise<Lookup> {
  if (input.kind === 'database') return (await import('./get-folder.js')).databaseLookup(input.file, options, isLast);
  return input.file.isInternal ? versionLookup(input.file, keys, options) : valueLookup(input.file, keys, options);
}

function valueLookup(file: TableFile, keys: readonly Uint8Array[], { explain }: GetOptions): Lookup {
  const table = openTable(file);
  const answer = (value: Uint8Array | undefined): Answer | undefined => value && { kind: 'value', value };
  if (!file.isSearchable) return walkedLookup(keys, table.entries(), ([key]) => key, ([, value]) => value, answer);
  return async (key) => {
    if (explain) await noteSearch(file, key, await table.explain(key));
    return answer(await table.get(key));
  };
}

async function versionLookup(file: TableFile, keys: readonly Uint8Array[], { explain, allVersions }: GetOptions): Promise<Lookup> {
  const table = await openDatabaseTable(file);
  const answer = (version: Pick<DatabaseEntry, 'kind' | 'value'> | undefined): Answer | undefined =>
    version && (version.kind === 'deletion' ? DELETED : { kind: 'value', value: version.value });
  if (!file.isSearchable && !allVersions) {
    const newer = (before: DatabaseEntry, now: DatabaseEntry): DatabaseEntry => (before.sequence < now.sequence ? now : before);
    return walkedLookup<DatabaseEntry, DatabaseEntry>(keys, table.entries(), ({ key }) => key, (entry) => entry, answer, newer);
  }
  return async (key) => {
    if (explain) {
      const seek = encodeInternalKey({ userKey: key, sequence: MAX_SEQUENCE, type: VALUE });
      await noteSearch(file, key, await table.table.explain(seek));
    }
    return answer(await table.get(key));
  };
}

async function noteSearch({ path }: TableFile, key: Uint8Array, search: TableSearch): Promise<void> {
  const { searchLine } = await import('../outputs/explanation.js');
  note(`${path}: ${searchLine(key, search)}`);
}

/** A lookup of keys in a table whose order is unknown: it reads the whole table once. */
function walkedLookup<T, Found>(
  keys: readonly Uint8Array[],
  entries: Iterable<T> | AsyncIterable<T>,
  keyOf: (entry: T) => Uint8Array,
  foundIn: (entry: T) => Found,
  answer: (found: Found | undefined) => Answer | undefined,
  chosen: (before: Found, now: Found) => Found = (before) => before,
): Lookup {
  const wanted = new Set(keys.map(keyId));
  const found = new Map<string, Found>();
  let isWalked: Promise<void> | undefined;
  const walk = async (): Promise<void> => {
    for await (const entry of entries) {
      const key = keyId(keyOf(entry));
      if (!wanted.has(key)) continue;
      const before = found.get(key);
      const now = foundIn(entry);
      found.set(key, before === undefined ? now : chosen(before, now));
    }
  };
  return async (key) => {
    await (isWalked ??= walk());
    return answer(found.get(keyId(key)));
  };
}

/** Prints the result of the first input that has the key. @returns whether anything was printed. */
async function printFirst(inputs: readonly Input[], lookups: readonly Lookup[], key: Uint8Array, print: PrintAnswer): Promise<boolean> {
  for (const [i, lookup] of lookups.entries()) {
    const answer = await lookup(key);
    if (answer === undefined) continue;
    if (answer.kind === 'deleted') return false;
    await print(inputs[i]!.file.path, key, answer);
    return true;
  }
  return false;
}

type PrintAnswer = (path: string, key: Uint8Array, answer: Exclude<Answer, { kind: 'deleted' }>) => Promise<void> | undefined;

interface AnswerPrinter {
  readonly print: PrintAnswer;
  readonly flush: () => Promise<void>;
}

/** Prints values, each on a line of its own. */
function valuePrinter({ hex }: GetOptions): AnswerPrinter {
  const out = new ByteBuffer();
  return {
    print(_path, _key, answer) {
      if (answer.kind !== 'value') return undefined;
      if (hex) out.hex(answer.value);
      else out.bytes(answer.value);
      out.byte(LF);
      return drain(out);
    },
    flush: () => flush(out),
  };
}

/** Prints entries in a format. */
function entryPrinter({ format = 'tsv', hex, allVersions }: GetOptions): AnswerPrinter {
  const facts = allVersions && format !== 'kv' ? VERSION_FACTS : [];
  const columns: Columns = { key: true, value: true, facts, hex: hex === true };
  const output = new EntryOutput(format);
  return {
    print(path, key, answer) {
      if (answer.kind === 'value') return output.print(path, columns, [answer], ({ value }) => ({ key, value, facts: NO_FACTS }));
      return output.print(path, columns, answer.versions, (version) => ({
        key: format === 'kv' ? storedKey(version) : version.key,
        value: version.value,
        facts: factsOf(version, facts),
      }));
    },
    flush: () => output.flush(),
  };
}

/** A key as given; quotes if it is empty. */
function shownKey(text: string): string {
  if (text === '') return '""';
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}
