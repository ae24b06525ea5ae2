/** Folders that `bloom bulk publish` made. Writing to one makes it an ordinary database. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { note } from '../outputs/output.js';

/** Whether CURRENT names a published MANIFEST: one whose number is that of its bytes. */
export async function isPublished(path: string): Promise<boolean> {
  try {
    const name = readFileSync(join(path, 'CURRENT'), 'utf8').replace(/\n$/, '');
    // The bulk commands are not loaded for an ordinary database, whose numbers are small.
    if (!/^MANIFEST-\d{12,}$/.test(name)) return false;
    const { manifestName, numberOfSha256 } = await import('@bloom/bulk/internal');
    return manifestName(numberOfSha256(createHash('sha256').update(readFileSync(join(path, name))).digest('hex'))) === name;
  } catch {
    // Opening the database reports the problem.
    return false;
  }
}

export function noteNoLongerPublished(path: string): void {
  note(`${path}: was published with bloom bulk publish, and is an ordinary database from now on, which the bulk commands refuse: to keep both, write to a copy`);
}
