import type * as nodeFs from 'node:fs';
import { existsSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { NodeWritableFile } from '../src/node/node-writable-file.js';

/** Each sync of a regular file waits for `goOn`. */
const syncs = vi.hoisted(() => ({ underWay: 0, goOn: (): void => undefined }));
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof nodeFs>();
  const fdatasync = (fd: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
    if (!fs.fstatSync(fd).isFile()) {
      fs.fdatasync(fd, done);
      return;
    }
    syncs.underWay++;
    syncs.goOn = () => {
      fs.fdatasync(fd, done);
    };
  };
  return { ...fs, fdatasync };
});

const root = mkdtempSync(join(tmpdir(), 'bloom-node-files-'));
afterAll(() => rmSync(root, { recursive: true }));

const isLinux = process.platform === 'linux';
const MIB = new Uint8Array(2 ** 20);

/** What the descriptors of this process lead to. */
function openFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

describe.runIf(isLinux)('a file with a MiB of unsynced bytes', () => {
  // A device that takes everything and cannot be synced.
  const unsyncable = (): NodeWritableFile => new NodeWritableFile(openSync('/dev/null', 'w'), '/dev/null', 1);

  test('is synced in the background, and each later call fails if that failed', async () => {
    const file = unsyncable();
    await file.append(MIB);
    await expect(file.check()).rejects.toThrow('EINVAL');
    expect(() => file.append(new Uint8Array(1))).toThrow('EINVAL');
    await expect(file.sync()).rejects.toThrow('EINVAL');
    await file.close();
  });

  test('fails to sync while a background sync is failing', async () => {
    const file = unsyncable();
    const appending = file.append(MIB);
    await expect(file.sync()).rejects.toThrow('EINVAL');
    await appending;
    await file.close();
  });

  test('is closed only after its background sync has ended', async () => {
    const folder = new WritableNodeFolder(root);
    const file = folder.create('closed');
    await file.append(MIB);
    expect(syncs.underWay).toBe(1);
    const closing = file.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(openFiles()).toContain(join(root, 'closed'));
    syncs.goOn();
    await closing;
    expect(openFiles()).not.toContain(join(root, 'closed'));
    await folder.delete('closed');
  });
});

test('a large file is deleted at once, and is not left open', async () => {
  const folder = new WritableNodeFolder(root);
  const path = join(root, 'large');
  writeFileSync(path, new Uint8Array(2 ** 22));
  const deleting = folder.delete('large');
  expect(existsSync(path)).toBe(false);
  await deleting;
  if (isLinux) expect(openFiles().filter((name) => name.startsWith(path))).toEqual([]);
  await folder.delete('large');
});

test('the first bytes of a file that was deleted since it was created are refused', async () => {
  const folder = new WritableNodeFolder(root);
  const file = folder.create('new');
  rmSync(join(root, 'new'));
  await expect((async () => file.append(new Uint8Array(1)))()).rejects.toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
  await file.close();
});
