import { basename } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { type FileName, parseFileName } from '@bloom/leveldb';
import { versionEditLayout, writeBatchLayout } from '@bloom/leveldb/inspect';
import { type LabelledRange, logRanges, type RecordLayout } from '@bloom/log';
import { hexDigits } from '@bloom/report';
import { type Codec, CorruptionError, type SyncSource, UnsupportedError } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { Failure } from '../failure.js';
import { type Location, locate, shownName } from '../inputs/location.js';
import { bytesOfLog } from '../inputs/opened-folder.js';
import { isDatabase, recognised } from '../inputs/opened-input.js';
import { addRemoteOptions, type RemoteOptions, type TableLocation, tracingFor, withSource } from '../inputs/opened-source.js';
import { looksLikeManifest } from '../inputs/recognized-file.js';
import { layoutFolder } from './layout-folder.js';
import { openTable, type SyncTableFile, withTableFile } from '../inputs/opened-table.js';
import { Lines, note, printLines } from '../outputs/output.js';
import { addPluginOptions, type PluginOptions } from '../plugins/plugin-options.js';

/** How many bytes of a range to show. */
const SHOWN_BYTES = 8;

/** The records in files that are named like a log or a MANIFEST. */
const RECORD_LAYOUTS: Readonly<Partial<Record<FileName['type'], RecordLayout>>> = { log: writeBatchLayout, manifest: versionEditLayout };

interface LayoutCommandOptions extends RemoteOptions, PluginOptions {
  readonly blocks?: true;
  readonly json?: true;
}

export function addLayout(program: Command): void {
  const command = program
    .command('layout')
    .summary('show what every byte is')
    .description(
      "Prints every part of a table, a log or a MANIFEST in file order: offset, length, first bytes, and what they are. For a database's folder, prints the files: length, name, and what each is.",
    )
    .argument('<input...>', 'tables, logs, MANIFESTs, folders, URLs of files; - is standard input')
    .option('--blocks', 'print only blocks, not their fields; for a log, only fragments')
    .option('--json', 'print a JSON object for each part, or for each file of a folder');
  addRemoteOptions(addPluginOptions(command))
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

async function layout(paths: readonly string[], options: LayoutCommandOptions): Promise<void> {
  for (const [i, path] of paths.entries()) {
    if (paths.length > 1 && !options.json) await printLines([...(i > 0 ? [''] : []), `${shownName(path)}:`]);
    const tracing = await tracingFor(options);
    await layoutInput(path, { ...options, tracing });
    tracing?.report(shownName(path));
  }
}

async function layoutInput(given: string, options: LayoutCommandOptions): Promise<void> {
  const { blocks, json } = options;
  const asJson = json === true;
  const location = locate(given);
  const name = fileNameOf(location);
  const type = name === undefined ? undefined : parseFileName(name)?.type;
  const recordLayout = type && RECORD_LAYOUTS[type];
  const printRecords = (path: string, source: SyncSource, records: RecordLayout): Promise<void> =>
    print(path, source, logRanges(bytesOfLog(path, source), blocks ? undefined : records), asJson);
  if (recordLayout !== undefined) return withSource(fileLocation(given), options, (path, source) => printRecords(path, source, recordLayout));
  const printTable = (path: string, source: SyncSource, codecs: readonly Codec[] = allCodecs): Promise<void> =>
    print(path, source, tableLayout(source, { codecs, detail: blocks ? 'blocks' : 'fields' }), asJson);
  // Files such as CURRENT have no structure, and are one range.
  if (type !== undefined && type !== 'table') return withSource(fileLocation(given), options, (path, source) => printTable(path, source));
  if (location.kind === 'folder') return layoutFolder(location.path, asJson);
  const found = await recognised(given, options);
  if (isDatabase(found)) {
    if (found.kind === 'bucket') throw new Failure(`${found.address}: its files are in a bucket: use bloom stat, or download them and pass the copies`);
    if (found.kind === 'folder' || found.kind === 'remote-folder') throw new Failure(`${shownName(given)}: a folder at a URL cannot be listed: pass a file in it, or use bloom stat`);
    // A log or a MANIFEST under another name.
    return withSource(found, options, (path, source) => printRecords(path, source, looksLikeManifest(source) ? versionEditLayout : writeBatchLayout));
  }
  await withTableFile(found, options, async (file) => {
    mustEndAsTable(file);
    if (file.isInternal && !blocks) {
      note(`${file.path}: its keys look like internal keys of a database: the last 8 bytes of each are type and sequence, little-endian`);
    }
    await printTable(file.path, file.source, file.opening.codecs);
  });
}

/** The name of a single file, which determines its type; undefined for a folder and for an input without a name. */
function fileNameOf(location: Location): string | undefined {
  if (location.kind === 'folder' || location.kind === 'remote-folder') return location.file;
  if (location.kind === 'file' || location.kind === 'log') return basename(location.path);
  return location.kind === 'remote-file' || location.kind === 'remote-log' ? basename(location.url.pathname) : undefined;
}

/** A file by its path or URL, independent of its name. */
function fileLocation(given: string): TableLocation {
  return /^https?:/i.test(given) ? { kind: 'remote-file', url: new URL(given) } : { kind: 'file', path: given };
}

/** Accepts any damage before the magic number, because the footer leads to the remaining blocks. @throws the error of opening for other files. */
function mustEndAsTable(file: SyncTableFile): void {
  try {
    openTable(file);
  } catch (error) {
    const isPlaced = error instanceof CorruptionError || error instanceof UnsupportedError;
    if (!isPlaced || error.code === 'BLOOM_NOT_A_TABLE' || error.code === 'BLOOM_UNSUPPORTED_FORMAT') throw error;
  }
}

async function print(path: string, source: SyncSource, ranges: Iterable<LabelledRange> | AsyncIterable<LabelledRange>, asJson: boolean): Promise<void> {
  const lines = new Lines();
  const offsetWidth = String(source.byteLength).length;
  try {
    for await (const { offset, byteLength, label, value } of ranges) {
      const startHex = hexDigits(source.read(offset, Math.min(byteLength, SHOWN_BYTES)));
      if (asJson) {
        await lines.json({ input: path, offset, bytes: byteLength, startHex, label, ...(value !== undefined && { value }) });
        continue;
      }
      const hex = `${startHex}${byteLength > SHOWN_BYTES ? '…' : ''}`;
      const meaning = value === undefined ? label : `${label} = ${value}`;
      await lines.add(`${String(offset).padStart(offsetWidth)} ${String(byteLength).padStart(6)}  ${hex.padEnd(SHOWN_BYTES * 2 + 1)}  ${meaning}`);
    }
  } finally {
    await lines.flush();
  }
}
