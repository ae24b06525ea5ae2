// A folder on a file system without hard links, such as exFAT, a share of Azure Files, or a mounted bucket.
import promises, { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectGarbage, partName, verifyPublished } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { expect, onTestFinished, test } from 'vitest';
import { deliver, entriesOf, partsOf, range } from './model.js';

async function newFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bloom-without-links-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

/** Replaces the `link` of the system until the test is over. */
function refuseLinks(code: string): void {
  const { link } = promises;
  onTestFinished(() => {
    promises.link = link;
    syncBuiltinESMExports();
  });
  promises.link = () => Promise.reject(Object.assign(new Error(`${code}: link`), { code }));
  syncBuiltinESMExports();
}

test.each(['EPERM', 'ENOTSUP', 'ENOSYS'])('is published to, and garbage is collected from it, where links fail with %s', async (code) => {
  refuseLinks(code);
  const path = await newFolder();
  const store = new FolderStore(path);
  const [lost] = await partsOf(store, entriesOf([5]), 2n);
  expect(await partsOf(store, entriesOf([5]), 2n)).toEqual([lost]);
  await deliver(store, entriesOf(range(0, 300)), 1n);
  expect(await verifyPublished(store)).toMatchObject({ findings: [], entries: 300 });
  await Promise.all((await readdir(path)).map((name) => utimes(join(path, name), 1, 1)));
  expect((await collectGarbage(store)).deleted).toEqual([partName(lost!.number)]);
  expect(await verifyPublished(store)).toMatchObject({ findings: [], entries: 300 });
  expect((await readdir(path)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('keeps a part that was written again while it was being deleted', async () => {
  const path = await newFolder();
  const store = new FolderStore(path);
  const [part] = await partsOf(store, entriesOf([5]), 2n);
  const name = partName(part!.number);
  const seen = { ...(await store.head(name))!, modifiedMs: 0 };
  refuseLinks('EPERM');
  expect(await store.delete(name, seen)).toBe(false);
  expect(await readdir(path)).toEqual([name]);
});

test('gives no name to a file whose link fails for another reason', async () => {
  refuseLinks('EIO');
  const path = await newFolder();
  await expect(partsOf(new FolderStore(path), entriesOf([5]), 2n)).rejects.toMatchObject({ code: 'BLOOM_STORE_FAILED' });
  expect(await readdir(path)).toEqual([]);
});
