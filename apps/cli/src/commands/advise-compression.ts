import { deflateCodec, zlibCodec } from '@bloom/codecs';
import { count } from '@bloom/report';
import { TableBuilder, type TableBuilderOptions, type TableSink } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import type { EntryBatch } from '../formats/entry-batch.js';
import { byteSize } from '../inputs/byte-size.js';
import { addDamageOption, mustBeForFolder } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUT } from '../inputs/input-help.js';
import { shownName } from '../inputs/location.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { addHeaderOption } from '../inputs/opened-source.js';
import { addKeyFormOptions } from '../inputs/opened-table.js';
import { withVisible } from '../inputs/visible-entries.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { Lines } from '../outputs/output.js';
import { Progress } from '../outputs/progress.js';
import { aligned, shortSize } from '../outputs/screen-text.js';
import { compressionOf } from '../outputs/table-options.js';
import { addPluginOptions, loadPlugins } from '../plugins/plugin-options.js';

interface CompressionOptions extends InputOptions {
  readonly blockSize?: readonly number[];
  readonly json?: true;
  readonly quiet?: true;
}

/** The block sizes that are tried by default, in bytes. */
const BLOCK_SIZES = [4, 16, 64].map((kibibytes) => kibibytes * 2 ** 10);

export function addCompression(program: Command): void {
  const readSize = byteSize(1, 64 * 2 ** 20);
  const several = (value: string, before: readonly number[] | undefined): readonly number[] => [...(before ?? []), readSize(value)];
  const command = program
    .command('compression')
    .summary('compare compressions and block sizes')
    .description(
      'Prints how large a table of the entries would be, without filters, with each compression and block size, and how long compression takes. Writes nothing. For tables and folders of databases, the newest value of each key is used, as in bloom convert --keys plain.',
    )
    .argument('<input>', INPUT)
    .addOption(new Option('--block-size <bytes>', 'bytes before compression at which a block is full; repeatable (default: 4KiB, 16KiB and 64KiB)').argParser(several))
    .option('-q, --quiet', 'show no progress')
    .option('--json', 'print one JSON object per compression and block size');
  addKeyFormOptions(addHeaderOption(addPluginOptions(addDamageOption(command))))
    .addHelpText(
      'after',
      `
Codecs passed with --codec are tried too, if they can compress.
${BUCKET_HELP}
Examples:
  bloom advise compression capitals.ldb
  bloom advise compression path/to/database --block-size 32KiB`,
    )
    .action(compression);
}

/** A table that is built only to measure its size. */
class TrialTable {
  readonly compression: string;
  readonly blockSize: number;
  bytes = 0;
  /** Milliseconds spent on building it so far. */
  time = 0;
  readonly #builder: TableBuilder;

  constructor(compression: string, blockSize: number, options: TableBuilderOptions) {
    this.compression = compression;
    this.blockSize = blockSize;
    const sink: TableSink = { append: (bytes) => (this.bytes += bytes.length) };
    this.#builder = new TableBuilder(sink, { ...options, blockSize, filterPolicy: null });
  }

  add({ bytes, ends, length }: EntryBatch): void {
    this.#measured(() => {
      for (let i = 0, start = 0; i < length; i++) {
        const end = ends[2 * i + 1]!;
        this.#builder.addRange(bytes, start, ends[2 * i]!, bytes, ends[2 * i]!, end);
        start = end;
      }
    });
  }

  finish(): void {
    this.#measured(() => this.#builder.finish());
  }

  #measured(work: () => unknown): void {
    const started = performance.now();
    work();
    this.time += performance.now() - started;
  }
}

async function compression(path: string, options: CompressionOptions): Promise<void> {
  const { blockSize: blockSizes = BLOCK_SIZES, json, quiet } = options;
  const plugins = await loadPlugins(options);
  const names = ['none', 'snappy', ...new Set([...plugins.codecs, zlibCodec, deflateCodec].filter((codec) => codec.compress !== undefined).map(({ name }) => name))];
  const progress = new Progress('compressing', 'entries', undefined, quiet !== true);
  let trials: readonly TrialTable[];
  try {
    trials = await interruptible((signal) =>
      withVisible(path, options, async (visible) => {
        if (visible.isOfTable) mustBeForFolder(shownName(path), '--damage', options.damage);
        const { comparator } = visible;
        const tables = names.flatMap((name) => blockSizes.map((blockSize) => new TrialTable(name, blockSize, { comparator, compression: compressionOf({ compression: name }, plugins) })));
        let entries = 0;
        for (let batch = await unlessAborted(visible.next(), signal); batch !== undefined; batch = await unlessAborted(visible.next(), signal)) {
          for (const table of tables) table.add(batch);
          progress.update((entries += batch.length));
        }
        for (const table of tables) table.finish();
        return tables;
      }),
    );
  } finally {
    progress.stop();
  }
  const lines = new Lines();
  if (json) {
    for (const { compression: name, blockSize, bytes, time } of trials) await lines.json({ compression: name, blockSize, bytes, seconds: Math.round(time) / 1000 });
  } else {
    const [uncompressed] = trials;
    const rows = trials.map((table) => [
      table.compression,
      shortSize(table.blockSize),
      count(table.bytes),
      `${((table.bytes / uncompressed!.bytes) * 100).toFixed(1)}%`,
      `${(table.time / 1000).toFixed(2)} s`,
    ]);
    for (const line of aligned([['compression', 'block size', 'bytes', 'share', 'time'], ...rows])) await lines.add(line);
  }
  await lines.flush();
}
