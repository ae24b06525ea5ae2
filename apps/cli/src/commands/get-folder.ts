import { type DatabaseFile, noteDropped } from '../inputs/opened-folder.js';
import { explanationLines } from '../outputs/explanation.js';
import { note } from '../outputs/output.js';
import { type Answer, DELETED, type GetOptions, type Lookup } from './get-answer.js';

/** Looks keys up in a database. @param isLast whether this is the last input, where a deletion need not be distinguished from an absent key. */
export function databaseLookup({ path, database }: DatabaseFile, { allVersions, explain }: GetOptions, isLast: boolean): Lookup {
  noteDropped(path, database.describe().dropped);
  const newest = async (key: Uint8Array): Promise<Answer | undefined> => {
    const value = await database.get(key);
    if (value !== undefined) return { kind: 'value', value };
    if (isLast) return undefined;
    const [version] = await database.versions(key);
    return version?.kind === 'deletion' ? DELETED : undefined;
  };
  if (allVersions) {
    return async (key) => {
      const versions = await database.versions(key);
      return versions.length === 0 ? undefined : { kind: 'versions', versions };
    };
  }
  if (!explain) return newest;
  return async (key) => {
    const explanation = await database.explain(key);
    for (const line of explanationLines(explanation)) note(line);
    const { outcome } = explanation;
    switch (outcome.kind) {
      case 'value':
        return { kind: 'value', value: outcome.value };
      case 'deletion':
        return DELETED;
      case 'absent':
        return undefined;
      case 'failed':
        // Repeats the lookup to throw its error.
        return newest(key);
    }
  };
}
