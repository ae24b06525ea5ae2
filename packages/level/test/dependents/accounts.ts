/** A small application: one level given from outside, JSON in sublevels by name, keys with numbers. */
import { BloomLevel as ClassicLevel } from '@bloom/level';

export class Category {
  constructor(readonly name: string, readonly unit: string) {}

  async write(db: ClassicLevel): Promise<void> {
    await db.put(`categories.${this.name}`, JSON.stringify({ unit: this.unit }), { sync: true });
  }

  async writeValue(db: ClassicLevel, value: number, time: number): Promise<void> {
    await db.put(`values.${this.name}.${String(time).padStart(10, '0')}`, String(value));
  }

  static async *entries(db: ClassicLevel): AsyncGenerator<Category> {
    for await (const [key, value] of db.iterator({ gte: 'categories.', lt: 'categories.~' })) {
      const { unit } = JSON.parse(value) as { unit: string };
      yield new Category(key.slice(11), unit);
    }
  }

  async latest(db: ClassicLevel): Promise<number | undefined> {
    const [value] = await db.values({ gte: `values.${this.name}.`, lte: `values.${this.name}.~`, limit: 1, reverse: true }).all();
    return value === undefined ? undefined : Number(value);
  }
}

export async function open(path: string): Promise<ClassicLevel> {
  const db = new ClassicLevel(path);
  await db.open();
  return db;
}
