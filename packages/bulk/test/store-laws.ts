// What every store has to do. Used for each of them.
import { createHash } from 'node:crypto';
import { DatabaseReader } from '@bloom/leveldb';
import { type NewObject, readPublication, type Store, verifyPublished } from '@bloom/bulk';
import { describe, expect, test } from 'vitest';
import { collected, deliver, entriesOf, keyAt, Model, range, textOf, utf8 } from './model.js';

export function object(name: string, text: string | Uint8Array): NewObject {
  const bytes = typeof text === 'string' ? utf8(text) : text;
  return { name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const textIn = async (store: Store, name: string): Promise<string | undefined> => {
  const found = await store.get(name);
  return found && new TextDecoder().decode(found.bytes);
};

/** @param makeStore makes an empty store, or undefined where `skip` says why there is none. */
export function storeLaws(name: string, makeStore: () => Promise<Store>): void {
  describe(`a store that is ${name}`, () => {
    test('has no object that was not written, and reads, finds and lists those that were', async () => {
      const store = await makeStore();
      expect(await store.get('CURRENT')).toBeUndefined();
      expect(await store.head('CURRENT')).toBeUndefined();
      expect(await collected(store.list())).toEqual([]);
      const before = Date.now();
      expect(await store.create(object('123456.ldb', 'some bytes'))).toBe(true);
      await store.put(object('MANIFEST-000001.replaced', ''));
      expect(await textIn(store, '123456.ldb')).toBe('some bytes');
      expect(await textIn(store, 'MANIFEST-000001.replaced')).toBe('');
      const head = (await store.head('123456.ldb'))!;
      expect(head.byteLength).toBe(10);
      // Some clocks have seconds.
      expect(head.modifiedMs).toBeGreaterThan(before - 2000);
      expect(head.modifiedMs).toBeLessThanOrEqual(Date.now() + 1000);
      expect([undefined, object('', 'some bytes').sha256]).toContain(head.sha256);
      const listed = await collected(store.list());
      expect(listed.map(({ name, byteLength }) => `${name} ${byteLength}`).sort()).toEqual(['123456.ldb 10', 'MANIFEST-000001.replaced 0']);
    });

    test('creates an object only where there is none, also when several do so at once', async () => {
      const store = await makeStore();
      const made = await Promise.all(['a', 'b', 'c', 'd'].map((text) => store.create(object('123456.ldb', text))));
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await textIn(store, '123456.ldb')).toBe('abcd'[made.indexOf(true)]);
      expect(await store.create(object('123456.ldb', 'e'))).toBe(false);
    });

    test('replaces an object only in the state that the caller has seen, also when several do so at once', async () => {
      const store = await makeStore();
      await store.create(object('123456.ldb', 'some bytes'));
      const other = (await store.get('123456.ldb'))!.etag;
      expect(await store.replace(object('CURRENT', 'zero'), other)).toBe('refused');
      expect(await store.replace(object('CURRENT', 'one'), undefined)).toBe('replaced');
      expect(await store.replace(object('CURRENT', 'two'), undefined)).toBe('refused');
      const { etag } = (await store.get('CURRENT'))!;
      const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((text) => store.replace(object('CURRENT', text), etag)));
      expect(answers.filter((answer) => answer === 'replaced')).toHaveLength(1);
      expect(await textIn(store, 'CURRENT')).toBe('abcdefgh'[answers.indexOf('replaced')]);
      expect(await store.replace(object('CURRENT', 'three'), etag)).toBe('refused');
    });

    test('deletes an object, and one that is not there', async () => {
      const store = await makeStore();
      await store.create(object('123456.ldb', 'some bytes'));
      await store.delete('123456.ldb');
      await store.delete('123456.ldb');
      expect(await store.get('123456.ldb')).toBeUndefined();
      expect(await store.create(object('123456.ldb', 'others'))).toBe(true);
    });

    test('has a folder that a reader reads the database from, and sees the next publication of', async () => {
      const store = await makeStore();
      const base = entriesOf(range(0, 1000));
      await deliver(store, base, 1n);
      const model = new Model();
      model.apply(base);
      await using reader = await DatabaseReader.open(store.folder());
      expect(textOf(await collected(reader.entries()))).toBe(String(model));
      const changes = entriesOf(range(0, 1000, 7), 'changed');
      await deliver(store, changes, 2n);
      expect(await reader.refresh()).toBe(true);
      expect(await reader.refresh()).toBe(false);
      model.apply(changes);
      expect(textOf(await collected(reader.entries()))).toBe(String(model));
      expect(new TextDecoder().decode(await reader.get(keyAt(7)))).toContain('changed 7');
      expect(await verifyPublished(store)).toMatchObject({ findings: [], entries: base.length + changes.length });
      expect((await readPublication(store))!.lastSequence).toBe(2n);
    });
  });
}
