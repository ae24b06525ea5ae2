/** Reads at a snapshot, which every kind of read takes. */
import { BloomLevel as ClassicLevel, type Snapshot } from '@bloom/level';

export async function consistent(db: ClassicLevel<string, number>, keys: string[]): Promise<{ values: (number | undefined)[]; has: boolean[]; sum: number }> {
  const snapshot: Snapshot = db.snapshot();
  try {
    let sum = 0;
    for await (const value of db.values({ snapshot })) sum += value;
    const values = await db.getMany(keys, { snapshot });
    const has = await db.hasMany(keys, { snapshot });
    if (keys.length > 0 && (await db.has(keys[0]!, { snapshot })) !== has[0]) throw new Error('changed');
    const direct: number | undefined = db.getSync(keys[0]!, { snapshot });
    return { values: [direct, ...values.slice(1)], has, sum };
  } finally {
    await snapshot.close();
  }
}

export const open = (): ClassicLevel<string, number> => new ClassicLevel<string, number>('sums', { valueEncoding: 'json' });
