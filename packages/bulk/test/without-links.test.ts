// A folder on a file system without hard links, such as exFAT, a share of Azure Files, or a mounted bucket.
import promises, { mkdtemp, readdir, readFile, rename, rm, utimes } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collectGarbage, partName, verifyPublished } from '@bloom/bulk';
import { FolderStore } from '@bloom/bulk/node';
import { describe, expect, onTestFinished, test } from 'vitest';
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

/** Runs `work` once, after the system has found that there is no file at `path` and before it says so. */
function whenMissing(path: string, work: () => Promise<unknown>): void {
  const { stat } = promises;
  const end = (): void => {
    promises.stat = stat;
    syncBuiltinESMExports();
  };
  onTestFinished(end);
  promises.stat = (async (asked: string) => {
    try {
      return await stat(asked);
    } catch (error) {
      if (asked === path) {
        end();
        await work();
      }
      throw error;
    }
  }) as typeof stat;
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

describe('a part whose deletion was killed', () => {
  const MINUTE = 60_000;

  /** A folder with such a part, a day after it was written. */
  async function newInterrupted() {
    const path = await newFolder();
    const [gc, writer] = [new FolderStore(path), new FolderStore(path)];
    const [part] = await partsOf(writer, entriesOf([5]), 2n);
    const name = partName(part!.number);
    const object = { name, bytes: new Uint8Array(await readFile(join(path, name))), sha256: '' };
    const renamed = join(path, `.${name}.0123456789abcdef.deleted`);
    await rename(join(path, name), renamed);
    await utimes(renamed, 1, 1);
    return { path, gc, writer, object, renamed };
  }

  /** Lists the folder, which restores the name. */
  async function restore(store: FolderStore): Promise<void> {
    for await (const { name } of store.list()) expect(name).not.toContain('.deleted');
  }

  test.each(['put', 'create'] as const)('stays young if a publisher writes it with `%s` while another process restores it', async (method) => {
    refuseLinks('EPERM');
    const { path, gc, writer, object } = await newInterrupted();
    const { name } = object;
    whenMissing(join(path, name), () => writer[method](object));
    await restore(gc);
    expect(Date.now() - (await gc.head(name))!.modifiedMs).toBeLessThan(MINUTE);
    expect(await gc.delete(name, { name, byteLength: object.bytes.length, modifiedMs: 1000 })).toBe(false);
    expect(await readdir(path)).toEqual([name]);
  });

  test('keeps its bytes if its name cannot be looked up', async () => {
    refuseLinks('EPERM');
    const { path, gc, object, renamed } = await newInterrupted();
    const { stat } = promises;
    onTestFinished(() => {
      promises.stat = stat;
      syncBuiltinESMExports();
    });
    promises.stat = ((asked: string) => (asked === join(path, object.name) ? Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })) : stat(asked))) as typeof stat;
    syncBuiltinESMExports();
    await expect(restore(gc)).rejects.toMatchObject({ code: 'BLOOM_STORE_FAILED' });
    expect(await readdir(path)).toEqual([renamed.slice(path.length + 1)]);
  });

  test.each(['with', 'without'])('is young when its name is restored %s links', async (how) => {
    if (how === 'without') refuseLinks('EPERM');
    const { gc, object } = await newInterrupted();
    await restore(gc);
    expect(Date.now() - (await gc.head(object.name))!.modifiedMs).toBeLessThan(MINUTE);
  });
});

test('gives no name to a file whose link fails for another reason', async () => {
  refuseLinks('EIO');
  const path = await newFolder();
  await expect(partsOf(new FolderStore(path), entriesOf([5]), 2n)).rejects.toMatchObject({ code: 'BLOOM_STORE_FAILED' });
  expect(await readdir(path)).toEqual([]);
});
