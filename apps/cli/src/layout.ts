import { allCodecs } from '@bloom/codecs';
import { tableLayout } from '@bloom/sstable/inspect';
import type { Command } from 'commander';
import { withTableFile } from './opened-table.js';
import { Lines, note } from './output.js';

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
  const lines = new Lines();
  await withTableFile(path, {}, async ({ source, isInternal }) => {
    if (isInternal && !blocks) {
      note(`${path}: its keys look like a database's: the last 8 bytes of each are type and sequence, little-endian`);
    }
    const ranges = tableLayout(source, { codecs: allCodecs, detail: blocks ? 'blocks' : 'fields' });
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
  });
}
