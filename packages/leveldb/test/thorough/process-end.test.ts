import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/index.js';
import { WritableNodeFolder } from '../../src/node.js';
import { bundledProgram } from '../bundled-program.js';

let program: string;
const root = mkdtempSync(join(tmpdir(), 'bloom-process-end-'));

beforeAll(async () => {
  program = await bundledProgram('process-end.ts');
});

afterAll(() => {
  rmSync(root, { recursive: true });
  rmSync(dirname(program), { recursive: true });
});

describe('writes that nobody awaits are made when the process ends', () => {
  test.each([
    { name: 'after puts', count: 10, status: 0 },
    { name: 'in the turn of an awaited put', count: 10, status: 0 },
    { name: 'after close was called', count: 10, status: 0 },
    { name: 'by an error', count: 10, status: 1 },
    { name: 'with listeners that write', count: 11, status: 0 },
    { name: 'more than a memtable', count: 10, status: 0 },
    { name: 'a batch of 200,000', count: 200_001, status: 0 },
    { name: 'announced without an end', count: 11, status: 0 },
  ])('$name', async ({ name, count, status }) => {
    expect(spawnSync(process.execPath, [program, root, name]).status).toBe(status);
    expect(await countIn(name)).toBe(count);
  });

  test('in a worker thread', async () => {
    rmSync(join(root, 'after puts'), { recursive: true, force: true });
    expect(spawnSync(process.execPath, [program, root, 'in a worker thread']).status).toBe(0);
    expect(await countIn('after puts')).toBe(10);
  });
});

test('the process is listened to only while a database is open', () => {
  expect(spawnSync(process.execPath, [program, root, 'without a listener']).status).toBe(0);
});

async function countIn(name: string): Promise<number> {
  const database = await Database.open(new WritableNodeFolder(join(root, name)));
  let count = 0;
  for await (const _ of database.keys()) count++;
  await database.close();
  return count;
}
