import { basename } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { parseFileName } from '@bloom/leveldb';
import { versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { type LabelledRange, logRanges, type RecordLayout } from '@bloom/log';
import type { SyncSource } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { Failure } from './failure.js';
import { layoutFolder } from './layout-folder.js';
import { isFolder } from './folder-argument.js';
import { withFile, withTableFile } from './opened-table.js';
import { counted, Lines, note } from './output.js';

/** How many bytes of a range to show. */
const SHOWN_BYTES = 8;
/** A log is read into memory. LevelDB starts a new log at 1 GiB at the latest. */
const MAX_LOG_BYTES = 2 ** 31;

interface LayoutCommandOptions {
  readonly blocks?: true;
}

export function addLayout(program: Command): void {
  program
    .command('layout')
    .summary('show what every byte is')
    .description(
      "Prints every part of a table, a log or a MANIFEST in file order: offset, length, first bytes, and what they are. For a database's folder, prints the files: length, name, and what each is.",
    )
    .argument('<file>', "the table, log or MANIFEST, or a database's folder")
    .option('--blocks', 'print only blocks, not their fields; for a log, only fragments')
    .addHelpText(
      'after',
      `
Examples:
  bloom layout capitals.ldb
  bloom layout --blocks 000005.ldb
  bloom layout 000003.log
  bloom layout MANIFEST-000002`,
    )
    .action(layout);
}

async function layout(path: string, { blocks }: LayoutCommandOptions): Promise<void> {
  if (isFolder(path)) return layoutFolder(path);
  const recordLayout = recordLayoutOf(path);
  if (recordLayout !== undefined) {
    await withFile(path, async (source) => {
      if (source.byteLength > MAX_LOG_BYTES) throw new Failure(`${path}: has more than ${counted(MAX_LOG_BYTES, 'byte')}: too long for a log`);
      const bytes = source.read(0, source.byteLength);
      await print(source, logRanges(bytes, blocks ? undefined : recordLayout));
    });
    return;
  }
  await withTableFile(path, {}, async ({ source, isInternal }) => {
    if (isInternal && !blocks) {
      note(`${path}: its keys look like a database's: the last 8 bytes of each are type and sequence, little-endian`);
    }
    await print(source, tableLayout(source, { codecs: allCodecs, detail: blocks ? 'blocks' : 'fields' }));
  });
}

/** The layout of the records in a file that is named like a log or a MANIFEST; undefined for any other file. */
function recordLayoutOf(path: string): RecordLayout | undefined {
  switch (parseFileName(basename(path))?.type) {
    case 'log':
      return writeBatchLayout;
    case 'manifest':
      return versionEditLayout;
    default:
      return undefined;
  }
}

async function print(source: SyncSource, ranges: Iterable<LabelledRange> | AsyncIterable<LabelledRange>): Promise<void> {
  const lines = new Lines();
  const offsetWidth = String(source.byteLength).length;
  try {
    for await (const { offset, byteLength, label, value } of ranges) {
      const shown = source.read(offset, Math.min(byteLength, SHOWN_BYTES));
      const hex = `${Buffer.from(shown).toString('hex')}${byteLength > SHOWN_BYTES ? '…' : ''}`;
      const meaning = value === undefined ? label : `${label} = ${value}`;
      await lines.add(
        `${String(offset).padStart(offsetWidth)} ${String(byteLength).padStart(6)}  ${hex.padEnd(SHOWN_BYTES * 2 + 1)}  ${meaning}`,
      );
    }
  } finally {
    await lines.flush();
  }
}
