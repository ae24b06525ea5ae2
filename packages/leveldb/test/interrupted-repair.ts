import { seeded } from '@bloom/fixtures';
import { Database, type RepairReport, WritableMemoryFolder } from '@bloom/leveldb';
import { expect } from 'vitest';
import type { PowerCutFolder } from './power-cut-folder.js';
import { asMap, entriesOf, mustBeSound, small, someDatabase } from './some-database.js';

/** The files of a database with damage in the log and in half of the tables. */
export async function damagedFiles(): Promise<Map<string, Uint8Array>> {
  const { files } = await someDatabase(4);
  const random = seeded(5);
  let tables = 0;
  for (const [name, bytes] of files) {
    if (name.endsWith('.log') || (name.endsWith('.ldb') && tables++ % 2 === 0)) bytes[random.below(bytes.length - 60)]! ^= 16;
  }
  return files;
}

/** The entries after a repair, its report, and the files that it set aside. */
export interface RepairOutcome {
  readonly entries: Map<string, string>;
  readonly report: RepairReport;
  readonly lost: Map<string, Uint8Array>;
}

/** Repairs a folder, and checks that the result is sound. */
export async function repaired(folder: PowerCutFolder): Promise<RepairOutcome> {
  const report = await Database.repair(folder, small);
  const copy = new WritableMemoryFolder([...folder.files()].filter(([name]) => !name.startsWith('lost/')));
  await mustBeSound(copy);
  const lost = new Map([...folder.files()].filter(([name]) => name.startsWith('lost/')));
  return { entries: asMap(await entriesOf(copy)), report, lost };
}

/** Fails unless `outcome` set aside every file that `whole` did, under any name. */
export function mustHaveKept(outcome: RepairOutcome, whole: RepairOutcome): void {
  const kept = [...outcome.lost.values()].map((bytes) => Buffer.from(bytes).toString('latin1'));
  for (const [name, bytes] of whole.lost) expect(kept.includes(Buffer.from(bytes).toString('latin1')), `${name} is gone`).toBe(true);
}
