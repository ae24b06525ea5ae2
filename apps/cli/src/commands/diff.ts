import { count } from '@bloom/report';
import { type Command, Option } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { ByteBuffer } from '../formats/byte-buffer.js';
import type { EntryBatch } from '../formats/entry-batch.js';
import { OutputError } from '../formats/entry.js';
import type { Format, Printer } from '../formats/format-contract.js';
import { type FormatName, formats } from '../formats/format.js';
import { addDamageOption, mustBeForFolder, mustNotInsist } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUT } from '../inputs/input-help.js';
import { shownName } from '../inputs/location.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { addHeaderOption } from '../inputs/opened-source.js';
import { addKeyFormOptions } from '../inputs/opened-table.js';
import { type VisibleEntries, withVisible } from '../inputs/visible-entries.js';
import { drain, flush } from '../outputs/output.js';
import { printSummary } from '../outputs/summary.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

interface DiffOptions extends InputOptions {
  readonly format: SignedFormat;
  readonly hex?: true;
  readonly keysOnly?: true;
  readonly quiet?: true;
  readonly json?: true;
}

/** The separator between the sign and the entry, for the formats that support signs. */
const SIGN_ENDS = { tsv: '\t', jsonl: '', csv: ',', hex: '\t', base64: '\t', raw: '\t', words: '\t' } as const satisfies Partial<Record<FormatName, string>>;

type SignedFormat = keyof typeof SIGN_ENDS;

export function addDiff(program: Command): void {
  const command = program
    .command('diff')
    .summary('compare two tables or folders')
    .description(
      "Prints how two tables, folders or logs differ. A line that begins with - is an entry of OLD, and one with + an entry of NEW; a key whose values differ has both. In tables and folders of databases, the newest values are compared. Exits with 1 if there is a difference.",
    )
    .argument('<old>', INPUT)
    .argument('<new>', 'the same');
  addKeyFormOptions(addHeaderOption(addPluginOptions(addDamageOption(command))))
    .addOption(new Option('-f, --format <format>', 'how entries are printed').choices(Object.keys(SIGN_ENDS)).default('tsv'))
    .option('--hex', 'print keys and values in hexadecimal')
    .option('--keys-only', 'print no values')
    .option('-q, --quiet', 'print nothing: the exit code shows whether they differ')
    .option('--json', 'print the number of entries that differ as one JSON object, and no entries')
    .addHelpText(
      'after',
      `${BUCKET_HELP}
Examples:
  bloom diff monday.ldb tuesday.ldb
  bloom diff path/to/database path/to/copy --keys-only`,
    )
    .action(diff);
}

async function diff(oldPath: string, newPath: string, options: DiffOptions): Promise<void> {
  if (oldPath === '-' && newPath === '-') throw new Failure('stdin can be only one of the two: use a file for the other');
  const each = { ...options, isOfSeveral: true } as const;
  await withVisible(oldPath, each, (before) =>
    withVisible(newPath, each, async (after) => {
      const [oldName, newName] = [shownName(oldPath), shownName(newPath)];
      if (before.isOfTable && after.isOfTable) mustBeForFolder(oldName, '--damage', options.damage);
      if (!before.isOfTable && !after.isOfTable) mustNotInsist(oldName, options, 'database');
      if (before.comparator.name !== after.comparator.name) {
        throw new Failure(`${newName}: its keys are sorted by ${after.comparator.name}, those of ${oldName} by ${before.comparator.name}`);
      }
      const differences = new Differences(new EntryWalk(before), new EntryWalk(after), options);
      await differences.print();
      const { removed, added, changed } = differences;
      const text = `${count(removed)} only in ${oldName}, ${count(added)} only in ${newName}, ${count(changed)} with different values`;
      await printSummary(options, text, { old: oldName, new: newName, removed, added, changed });
    }),
  );
}

/** Walks through the entries of batches one by one. */
class EntryWalk {
  readonly source: VisibleEntries;
  #batch: EntryBatch | undefined;
  #i = 0;

  constructor(source: VisibleEntries) {
    this.source = source;
  }

  /** Views that are valid until the next move. */
  get key(): Uint8Array {
    return this.#batch!.key(this.#i);
  }

  get value(): Uint8Array {
    return this.#batch!.value(this.#i);
  }

  /** Moves to the next entry, or to the first. @returns whether there is one; a promise only if the next batch must be read. */
  next(): boolean | Promise<boolean> {
    if (this.#batch !== undefined && ++this.#i < this.#batch.length) return true;
    return this.#read();
  }

  async #read(): Promise<boolean> {
    do this.#batch = await this.source.next();
    while (this.#batch?.length === 0);
    this.#i = 0;
    return this.#batch !== undefined;
  }
}

class Differences {
  removed = 0;
  added = 0;
  changed = 0;
  readonly #before: EntryWalk;
  readonly #after: EntryWalk;
  readonly #out = new ByteBuffer();
  readonly #printer: Printer;
  readonly #printsEntries: boolean;
  /** Whether to stop at the first difference. */
  readonly #stopsAtFirst: boolean;
  readonly #signEnd: string;

  constructor(before: EntryWalk, after: EntryWalk, { format, hex, keysOnly, quiet, json }: DiffOptions) {
    this.#before = before;
    this.#after = after;
    this.#signEnd = SIGN_ENDS[format];
    this.#printsEntries = !quiet && !json;
    this.#stopsAtFirst = quiet === true && !json;
    const { printer }: Format = formats[format];
    this.#printer = printer({ key: true, value: keysOnly !== true, facts: [], hex: hex === true });
  }

  /** Prints the differences, and sets the exit code if there is one. */
  async print(): Promise<void> {
    if (this.#printsEntries && this.#printer.head !== undefined) this.#out.utf8(`change${this.#signEnd}${this.#printer.head}`);
    const [before, after] = [this.#before, this.#after];
    const { comparator } = before.source;
    try {
      let hasBefore = await before.next();
      let hasAfter = await after.next();
      let isSame = true;
      while (hasBefore || hasAfter) {
        const order = !hasBefore ? 1 : !hasAfter ? -1 : comparator.compare(before.key, after.key);
        if (order < 0) {
          this.removed++;
          this.#put('-', before);
        } else if (order > 0) {
          this.added++;
          this.#put('+', after);
        } else if (Buffer.compare(before.value, after.value) !== 0 || Buffer.compare(before.key, after.key) !== 0) {
          this.changed++;
          this.#put('-', before);
          this.#put('+', after);
        }
        if (isSame && this.removed + this.added + this.changed > 0) {
          isSame = false;
          // Set now: the program ends while it prints if nobody reads on.
          process.exitCode = EXIT.no;
          if (this.#stopsAtFirst) return;
        }
        if (order <= 0) {
          const step = before.next();
          hasBefore = typeof step === 'boolean' ? step : await step;
        }
        if (order >= 0) {
          const step = after.next();
          hasAfter = typeof step === 'boolean' ? step : await step;
        }
        const written = drain(this.#out);
        if (written !== undefined) await written;
      }
    } finally {
      await flush(this.#out);
    }
  }

  #put(sign: '-' | '+', { key, value }: EntryWalk): void {
    if (!this.#printsEntries) return;
    this.#out.begin();
    this.#out.utf8(sign + this.#signEnd);
    try {
      this.#printer.print(key, value, this.#out, []);
    } catch (error) {
      this.#out.dropEntry();
      if (!(error instanceof OutputError)) throw error;
      throw new Failure(`an entry cannot be printed: ${error.message}: use --format tsv, which escapes it`, { cause: error });
    }
  }
}
