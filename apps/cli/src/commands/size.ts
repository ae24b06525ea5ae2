import type { Command } from 'commander';
import { addDamageOption } from '../inputs/folder-argument.js';
import { addRangeOptions } from '../inputs/key-range.js';
import { type Input, type InputOptions, withInput } from '../inputs/opened-input.js';
import { noteDropped } from '../inputs/opened-folder.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, openTable } from '../inputs/opened-table.js';
import { addGroupOptions, type GroupOptions, GroupSums, PrefixGroups } from '../inputs/prefix-groups.js';
import { addDatabaseBytes, addTableBytes } from '../inputs/stored-bytes.js';
import { printGroups } from '../outputs/group-rows.js';
import { Lines } from '../outputs/output.js';
import { addPluginOptions } from '../plugins/plugin-options.js';

interface SizeOptions extends InputOptions, GroupOptions {
  readonly json?: true;
}

export function addSize(program: Command): void {
  const command = program
    .command('size')
    .summary('print the bytes that keys take')
    .description(
      'Prints how many bytes of files the keys of tables, folders and logs take, or those of a range, with all versions that are stored. A block that holds other keys too is shared by the bytes of its entries; index and filters are shared in proportion, so that ranges that are all keys together have all bytes. With --by-prefix or --by-separator, prints which prefixes take how many, of all INPUTs together, the largest first. Only the indexes of tables are read, and blocks at the ends of ranges.',
    )
    .argument('<input...>', 'tables, folders, logs, MANIFESTs, URLs of them; - is standard input');
  addGroupOptions(addRangeOptions(command), 'the bytes').option('--hex', 'bounds, prefixes and separator are in hexadecimal').option('--json', 'print one JSON object per input, or per prefix');
  addRemoteOptions(addPluginOptions(addDamageOption(command)));
  addKeyFormOptions(command)
    .addHelpText(
      'after',
      `
Behind --prefix, prefixes go on: --by-prefix N takes N bytes more, and
--by-separator the next part.

Examples:
  bloom size path/to/database --prefix user/
  bloom size path/to/database --by-separator /
  bloom size path/to/database --by-separator / --prefix user/ --limit 20
  bloom size *.ldb --by-prefix 4 --hex`,
    )
    .action(size);
}

async function size(paths: readonly string[], options: SizeOptions): Promise<void> {
  const groups = new PrefixGroups(options);
  const tracing = await tracingFor(options);
  const { json, hex, limit } = options;
  const lines = new Lines();
  const sums = new GroupSums();
  for (const path of paths) {
    const before = sums.total;
    await withInput(path, { ...options, tracing }, async (input) => {
      await addBytes(input, groups, sums, options);
      const { path: name } = input.file;
      tracing?.report(name, input.kind === 'database' ? input.file.database.stats : openTable(input.file).stats);
      if (groups.isGrouped) return;
      const bytes = sums.total - before;
      if (json) await lines.json({ input: name, bytes });
      else await lines.add(paths.length === 1 ? String(bytes) : `${bytes}  ${name}`);
      await lines.flush();
    });
  }
  if (groups.isGrouped) await printGroups(sums, { member: 'bytes', hex: hex === true, json: json === true, limit });
  else if (paths.length > 1 && !json) await lines.add(`${sums.total}  in all`);
  await lines.flush();
}

async function addBytes({ kind, file }: Input, groups: PrefixGroups, sums: GroupSums, options: SizeOptions): Promise<void> {
  if (kind === 'database') {
    const { path, database } = file;
    try {
      await addDatabaseBytes(file, options.damage ?? 'strict', groups.in({ name: database.describe().comparator }, (a, b) => database.compare(a, b)), sums);
    } finally {
      noteDropped(path, database.describe().dropped);
    }
    return;
  }
  const { comparator, isSearchable } = file;
  const ordered = groups.in(isSearchable ? comparator : undefined, (a, b) => comparator.compare(a, b));
  noteAssumption(file, options);
  await addTableBytes(file, ordered, sums);
}
