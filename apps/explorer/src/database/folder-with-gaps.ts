import { decodeVersionEdit, type Folder, parseFileName } from '@bloom/leveldb';
import { readLog } from '@bloom/log';

/**
 * Makes a folder that lacks tables openable. LevelDB checks only whether a file has the number of each table, and notices a
 * missing table when it reads it. A reader that skips damage does the same.
 *
 * Source: LevelDB, db/db_impl.cc, `DBImpl::Recover`.
 */
export async function folderWithGaps(folder: Folder): Promise<Folder> {
  const names = [...((await folder.list?.()) ?? [])];
  const present = new Set(names.map((name) => parseFileName(name)).flatMap((parsed) => (parsed !== undefined && 'number' in parsed ? [parsed.number] : [])));
  const missing = [...(await tablesOf(folder))].filter((number) => !present.has(number));
  const listed = [...names, ...missing.map((number) => `${String(number).padStart(6, '0')}.dbtmp`)];
  return {
    name: folder.name,
    list: () => listed,
    open: (name, signal) => folder.open(name, signal),
    ...(folder.identityOf !== undefined && { identityOf: (name: string) => folder.identityOf!(name) }),
  };
}

/** The numbers of the tables in the MANIFEST. */
async function tablesOf(folder: Folder): Promise<ReadonlySet<bigint>> {
  const current = await contentsOf(folder, 'CURRENT');
  const name = new TextDecoder().decode(current).trim();
  const tables = new Set<bigint>();
  for (const { bytes, offset } of readLog(await contentsOf(folder, name)).records) {
    const { deletedFiles = [], newFiles = [] } = decodeVersionEdit(bytes, { structure: 'MANIFEST', offset, file: name });
    for (const { number } of deletedFiles) tables.delete(number);
    for (const { file } of newFiles) tables.add(file.number);
  }
  return tables;
}

async function contentsOf(folder: Folder, name: string): Promise<Uint8Array> {
  const file = await folder.open(name);
  return file === undefined ? new Uint8Array(0) : file.read(0, file.byteLength);
}
