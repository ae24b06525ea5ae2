/** Tables of items in sublevels that are made as they are needed, each with the items of its indexes. */
import type { AbstractSublevel } from 'abstract-level';
import { BloomLevel as ClassicLevel } from '@bloom/level';

type Item = Readonly<Record<string, { readonly S?: string; readonly N?: string }>>;
type Root = ClassicLevel<string, unknown>;
type Table = AbstractSublevel<Root, string | Buffer | Uint8Array, string, Item>;

export function create(path: string): { table(name: string): Table; root: Root; deleteTable(name: string): Promise<void> } {
  const root: Root = new ClassicLevel<string, unknown>(path, { valueEncoding: 'json' });
  const tables = new Map<string, Table>();
  const table = (name: string): Table => {
    let found = tables.get(name);
    if (found === undefined) {
      found = root.sublevel<string, Item>(name, { keyEncoding: 'utf8', valueEncoding: 'json', separator: '!' });
      tables.set(name, found);
    }
    return found;
  };
  return {
    root,
    table,
    async deleteTable(name) {
      await table(name).clear();
      tables.delete(name);
    },
  };
}

export async function scan(table: Table, after: string | undefined, limit: number): Promise<{ items: Item[]; last: string | undefined }> {
  const items: Item[] = [];
  let last: string | undefined;
  for await (const [key, item] of table.iterator(after === undefined ? { limit } : { gt: after, limit })) {
    items.push(item);
    last = key;
  }
  return { items, last };
}
