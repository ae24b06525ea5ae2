// The findings of a page: whatever bundles it, they are those of Node without a bundler.
import { CorruptionError, Database, DatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { MemorySink, MemorySource, Table, TableBuilder } from '@bloom/sstable';

const TABLE_ENTRIES = 20_000;
const DATABASE_ENTRIES = 2_000;
/** A byte of the first block of the table. */
const DAMAGED_AT = 50;

export interface PageFindings {
  readonly tableBytes: number;
  readonly entries: number;
  /** How many of 500 present and of 500 absent keys have a value, and how many lookups of absent keys the filters ended. */
  readonly present: number;
  readonly absent: number;
  readonly filterNegatives: number;
  /** The code of the error that one wrong bit gives. */
  readonly damage: string;
  readonly databaseEntries: number;
  readonly overwritten: string;
  readonly isDeleted: boolean;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (i: number): Uint8Array => utf8(`key ${String(i).padStart(8, '0')}`);
const valueOf = (i: number): Uint8Array => utf8(`value ${i} `.repeat(12));

export async function pageFindings(): Promise<PageFindings> {
  return { ...(await tableFindings()), ...(await databaseFindings()) };
}

async function tableFindings(): Promise<Pick<PageFindings, 'tableBytes' | 'entries' | 'present' | 'absent' | 'filterNegatives' | 'damage'>> {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink);
  for (let i = 0; i < TABLE_ENTRIES; i++) builder.add(keyOf(i), valueOf(i));
  builder.finish();
  const bytes = sink.toBytes();

  const table = await Table.open(new MemorySource(bytes));
  let entries = 0;
  for await (const [key, value] of table.entries()) if (key.length === 12 && value.length >= 96) entries++;
  const present = await table.getMany(Array.from({ length: 500 }, (_, i) => keyOf(i * 40)));
  const absent = await table.getMany(Array.from({ length: 500 }, (_, i) => utf8(`kez ${i}`)));
  const { filterNegatives } = table.stats;
  await table.close();

  bytes[DAMAGED_AT]! ^= 1;
  const damaged = await Table.open(new MemorySource(bytes));
  const damage = await damaged.get(keyOf(0)).then(
    () => 'unnoticed',
    (error: unknown) => (error instanceof CorruptionError ? error.code : String(error)),
  );
  await damaged.close();
  return { tableBytes: bytes.length, entries, present: countOf(present), absent: countOf(absent), filterNegatives, damage };
}

async function databaseFindings(): Promise<Pick<PageFindings, 'databaseEntries' | 'overwritten' | 'isDeleted'>> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  for (let i = 0; i < DATABASE_ENTRIES; i += 100) {
    const batch = new WriteBatch();
    for (let j = i; j < i + 100; j++) batch.put(keyOf(j), valueOf(j));
    await database.write(batch);
  }
  await database.delete(keyOf(7));
  await database.compactRange();
  await database.put(keyOf(5), utf8('again'));
  await database.close();

  const reader = await DatabaseReader.open(folder);
  let databaseEntries = 0;
  for await (const _ of reader.entries()) databaseEntries++;
  const overwritten = new TextDecoder().decode(await reader.get(keyOf(5)));
  const isDeleted = (await reader.get(keyOf(7))) === undefined;
  await reader.close();
  return { databaseEntries, overwritten, isDeleted };
}

function countOf(values: readonly (Uint8Array | undefined)[]): number {
  return values.filter((value) => value !== undefined).length;
}
