import type { Codec } from '@bloom/sstable';
import { compressionName } from '@bloom/sstable/internal';
import { salvagedEntries } from '@bloom/sstable/inspect';
import { runClosing, withFile } from '../../folder/closing-files.js';
import type { FolderFile } from '../../folder/folder.js';
import type { WritableFolder } from '../../folder/writable-folder.js';
import { namesByAge } from '../../format/file-name.js';
import { compressionOfTables } from '../../table/newest-compression.js';
import type { TableCompression } from '../../table/table-compression.js';
import type { Settings } from '../database-options.js';
import { withCompressionOf } from '../inherited-compression.js';

/**
 * The settings of a repair: with the codec of the newest table that has one, unless the caller named a compression. All tables in the
 * folder are searched, including damaged ones.
 *
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_CODEC` when there is no codec for a table, or new tables need one that can only decompress.
 *   The folder is still unchanged.
 */
export async function settingsForRepair(folder: WritableFolder, settings: Settings): Promise<Settings> {
  if (settings.isCompressionNamed) return settings;
  const names = namesByAge('table', await folder.list());
  const found = await runClosing(folder, (closing) => compressionOfTables(names, settings.opening, closing));
  if (found !== undefined && found.type > 0) return withCompressionOf(found, settings);
  for (const name of names) {
    const saved = await withFile(folder, name, async (file) => file && savedCompression(name, file, settings));
    if (saved !== undefined) return withCompressionOf(saved, settings);
  }
  return settings;
}

/** The codec, of those given, of the first block whose entries can be salvaged. The table may have lost its index. */
async function savedCompression(name: string, file: FolderFile, { opening }: Settings): Promise<TableCompression | undefined> {
  const { codecs, maxBlockBytes } = opening;
  let last: { readonly codec: Codec; readonly compressed: Uint8Array; readonly contents: Uint8Array } | undefined;
  const watched = (codecs ?? []).map((codec): Codec => ({
    type: codec.type,
    name: codec.name,
    decompress(compressed, maxBytes) {
      const contents = codec.decompress(compressed, maxBytes);
      last = { codec, compressed: compressed.slice(0, 4), contents };
      return contents;
    },
  }));
  for await (const [key] of salvagedEntries(file, { comparator: null, codecs: watched, maxBlockBytes })) {
    // A search for blocks also decompresses bytes that are not blocks.
    if (last !== undefined && beginsWithKey(last.contents, key)) {
      const { codec: { type }, compressed } = last;
      return { type, name: compressionName(type, compressed), place: { structure: 'file', offset: 0, file: name } };
    }
    last = undefined;
  }
  return undefined;
}

/** Whether `key` is the first key of a block: it follows three varints of 3 to 11 bytes in all. */
function beginsWithKey(contents: Uint8Array, key: Uint8Array): boolean {
  for (let start = 3; start <= 11 && key.length > 0; start++) if (key.every((byte, i) => contents[start + i] === byte)) return true;
  return false;
}
