import { type AsyncReaderOptions, type DatabaseDescription, DatabaseReader, decodeVersionEdit, encodeVersionEdit, type Folder, type FolderFile, parseFileName } from '@bloom/leveldb';
import { LogWriter, readLog } from '@bloom/log';
import { CorruptionError, MemorySource, type Source } from '@bloom/sstable';
import type { RefilteredTable } from '@bloom/sstable/inspect';
import type { Reading, TrialSubject } from './filter-trials.js';

/** All tables of a database, for trials with other filters. */
export async function databaseTrial(
  folder: Folder,
  { levels, manifest }: Pick<DatabaseDescription, 'levels' | 'manifest'>,
  options: AsyncReaderOptions,
  isIndexedDb: boolean,
  storedFilters: TrialSubject['storedFilters'],
): Promise<TrialSubject> {
  const tables = new Map<string, Source>();
  for (const { name } of levels.flat()) {
    const file = (await folder.open(name)) ?? (await folder.open(name.replace(/\.ldb$/, '.sst')));
    if (file !== undefined) tables.set(name, file);
  }
  return {
    hasVersions: true,
    isIndexedDb,
    tables,
    storedFilters,
    async open(refiltered, policy, signal): Promise<Reading> {
      const read = refiltered === undefined ? folder : await folderOf(folder, manifest, refiltered);
      const filterPolicies = policy !== undefined ? [policy] : refiltered !== undefined ? [] : options.filterPolicies;
      const reader = await DatabaseReader.open(read, { ...options, filterPolicies, signal });
      return {
        async has(key) {
          try {
            return await reader.has(key);
          } catch (error) {
            if (error instanceof CorruptionError) return undefined;
            throw error;
          }
        },
        stats: () => reader.stats,
        keys: () => reader.keys(),
        close: () => reader.close(),
      };
    },
  };
}

/** The name of the rewritten MANIFEST: a published database's own name is derived from the bytes of its MANIFEST. */
const REWRITTEN = 'MANIFEST-000001';

/** The folder with other tables. Its MANIFEST gets their lengths, because readers take a table's length from it. */
async function folderOf(folder: Folder, manifest: string, tables: ReadonlyMap<string, RefilteredTable>): Promise<Folder> {
  const file = await folder.open(manifest);
  const records = file === undefined ? [] : readLog(await file.read(0, file.byteLength)).records;
  const sizes = new Map([...tables].flatMap(([name, { source }]) => {
    const parsed = parseFileName(name);
    return parsed?.type === 'table' ? [[parsed.number, source.byteLength] as const] : [];
  }));
  const parts: Uint8Array[] = [];
  const writer = new LogWriter({ append: (bytes) => void parts.push(bytes.slice()) });
  for (const { bytes, offset } of records) {
    const edit = decodeVersionEdit(bytes, { structure: 'MANIFEST', offset, file: manifest });
    const newFiles = (edit.newFiles ?? []).map(({ level, file: table }) => ({ level, file: { ...table, size: sizes.get(table.number) ?? table.size } }));
    writer.addRecord(encodeVersionEdit({ ...edit, newFiles }));
  }
  const rewritten = new Uint8Array(await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  return {
    name: folder.name,
    ...(folder.list !== undefined && { list: (signal) => folder.list!(signal) }),
    open: (name, signal): FolderFile | undefined | Promise<FolderFile | undefined> => {
      if (name === 'CURRENT') return new MemorySource(new TextEncoder().encode(`${REWRITTEN}\n`), name);
      if (name === REWRITTEN) return new MemorySource(rewritten, name);
      return tables.get(name)?.source ?? folder.open(name, signal);
    },
  };
}
