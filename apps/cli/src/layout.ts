import { basename } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { type FileName, parseFileName } from '@bloom/leveldb';
import { versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { type LabelledRange, logRanges, type RecordLayout } from '@bloom/log';
import { counted, hexDigits } from '@bloom/report';
import { CorruptionError, type SyncSource, UnsupportedError } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { Failure } from './failure.js';
import { isFolder } from './folder-argument.js';
import { layoutFolder } from './layout-folder.js';
import { openTable, type TableFile, withFile, withTableFile } from './opened-table.js';
import { Lines, note } from './output.js';

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
    .argument('<file|folder>', "the table, log or MANIFEST, or a database's folder")
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
  const type = parseFileName(basename(path))?.type;
  const recordLayout = recordLayoutOf(type);
  if (recordLayout !== undefined) {
    await withFile(path, async (source) => {
      if (source.byteLength > MAX_LOG_BYTES) throw new Failure(`${path}: has more than ${counted(MAX_LOG_BYTES, 'byte')}: too long for a log`);
      const bytes = source.read(0, source.byteLength);
      await print(source, logRanges(bytes, blocks ? undefined : recordLayout));
    });
    return;
  }
  const printTable = (source: SyncSource): Promise<void> =>
    print(source, tableLayout(source, { codecs: allCodecs, detail: blocks ? 'blocks' : 'fields' }));
  // CURRENT and the like have no structure, and are one range.
  if (type !== undefined && type !== 'table') return withFile(path, printTable);
  await withTableFile(path, {}, async (file) => {
    mustEndAsTable(file);
    if (file.isInternal && !blocks) {
      note(`${path}: its keys look like a database's: the last 8 bytes of each are type and sequence, little-endian`);
    }
    await printTable(file.source);
  });
}

/** Accepts any damage before the magic number, since the footer leads to what is left. @throws the error of opening any other file. */
function mustEndAsTable(file: TableFile): void {
  try {
    openTable(file);
  } catch (error) {
    const isPlaced = error instanceof CorruptionError || error instanceof UnsupportedError;
    if (!isPlaced || error.code === 'BLOOM_NOT_A_TABLE' || error.code === 'BLOOM_UNSUPPORTED_FORMAT') throw error;
  }
}

/** The layout of the records in a file that is named like a log or a MANIFEST; undefined for any other file. */
function recordLayoutOf(type: FileName['type'] | undefined): RecordLayout | undefined {
  switch (type) {
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
      const hex = `${hexDigits(shown)}${byteLength > SHOWN_BYTES ? '…' : ''}`;
      const meaning = value === undefined ? label : `${label} = ${value}`;
      await lines.add(
        `${String(offset).padStart(offsetWidth)} ${String(byteLength).padStart(6)}  ${hex.padEnd(SHOWN_BYTES * 2 + 1)}  ${meaning}`,
      );
    }
  } finally {
    await lines.flush();
  }
}
