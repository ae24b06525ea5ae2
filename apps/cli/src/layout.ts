import { allCodecs } from '@bloom/sstable/codecs';
import { tableLayout } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { ByteBuffer } from './byte-buffer.js';
import { withFile } from './opened-table.js';
import { drain, flush } from './output.js';

/** Bytes of a range that are shown. */
const SHOWN_BYTES = 8;

interface LayoutCommandOptions {
  readonly blocks?: true;
}

export function addLayout(program: Command): void {
  program
    .command('layout')
    .summary('show what every byte is')
    .description('Prints every part of a table in the order of the file: offset, length, first bytes, and what they are.')
    .argument('<table>', 'the table')
    .option('--blocks', 'blocks only, not what is in them')
    .addHelpText(
      'after',
      `
Examples:
  bloom layout capitals.ldb
  bloom layout --blocks 000005.ldb`,
    )
    .action(layout);
}

async function layout(path: string, { blocks }: LayoutCommandOptions): Promise<void> {
  const out = new ByteBuffer();
  await withFile(path, async (source) => {
    const ranges = await tableLayout(source, { codecs: allCodecs, detail: blocks ? 'blocks' : 'fields' });
    const offsetWidth = String(source.byteLength).length;
    for (const { offset, byteLength, label, value } of ranges) {
      const shown = source.read(offset, Math.min(byteLength, SHOWN_BYTES));
      const hex = `${Buffer.from(shown).toString('hex')}${byteLength > SHOWN_BYTES ? '…' : ''}`;
      const meaning = value === undefined ? label : `${label} = ${value}`;
      out.utf8(
        `${String(offset).padStart(offsetWidth)} ${String(byteLength).padStart(6)}  ${hex.padEnd(SHOWN_BYTES * 2 + 1)}  ${meaning}\n`,
      );
      await drain(out);
    }
  });
  await flush(out);
}
