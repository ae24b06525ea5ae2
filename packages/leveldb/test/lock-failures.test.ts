// A LOCK that cannot be opened: for a reason of its own, or for one of the system.
import type * as nodeFs from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

const failing = vi.hoisted(() => ({ code: '' }));

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof nodeFs>();
  const openSync: typeof fs.openSync = (path, ...rest) => {
    if (String(path).endsWith('LOCK')) throw Object.assign(new Error(`${failing.code}: open`), { code: failing.code, syscall: 'open' });
    return fs.openSync(path, ...rest);
  };
  return { ...fs, openSync };
});

const root = mkdtempSync(join(tmpdir(), 'bloom-lock-failures-'));
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ['EMFILE', 'EMFILE'],
  ['ENFILE', 'ENFILE'],
  ['EIO', 'EIO'],
  ['ENOSPC', 'ENOSPC'],
  ['EACCES', 'BLOOM_NO_LOCK'],
  ['EROFS', 'BLOOM_NO_LOCK'],
])('if LOCK cannot be opened because of %s, the code is %s', async (code, expected) => {
  failing.code = code;
  for (const call of [Database.open, Database.repair]) {
    const path = mkdtempSync(join(root, 'folder-'));
    expect(await rejection(call(new WritableNodeFolder(path)))).toMatchObject({ code: expected });
  }
});
