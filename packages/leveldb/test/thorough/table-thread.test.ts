// Tables that are written on a worker thread. The worker is a file of the built package, so these tests use the built package.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

interface Found {
  readonly workers: number;
  readonly jobs: { readonly done: number; readonly failed: number; readonly givenBack: number };
  readonly files?: readonly string[];
  readonly others?: readonly (readonly string[])[];
  readonly entries?: string;
  readonly compacting?: string;
}

const folder = mkdtempSync(join(tmpdir(), 'bloom-table-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a task of table-thread-program.mjs in a separate process, which must exit by itself. */
function run(task: string, ...flags: string[]): Promise<Found> {
  const program = join(import.meta.dirname, 'table-thread-program.mjs');
  const child = spawn(process.execPath, [...flags, program, task, join(folder, task)], { cwd: join(import.meta.dirname, '../..') });
  let output = '';
  let problems = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (problems += data.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0 && problems === '') resolve(JSON.parse(output) as Found);
      else reject(new Error(`${task} ended with ${code}: ${problems}${output}`));
    });
  });
}

describe('the worker thread that writes tables', () => {
  let here: Found;
  let there: Found;
  let open: Found;

  beforeAll(async () => {
    [here, there, open] = await Promise.all([run('slices'), run('thread'), run('open')]);
  });

  test('writes the same files as the main thread does, byte for byte', () => {
    expect(here).toMatchObject({ workers: 0, jobs: { done: 0, failed: 0 } });
    expect(there).toMatchObject({ workers: 1, jobs: { failed: 0 } });
    expect(there.jobs.done).toBeGreaterThan(3);
    expect(there.files).toEqual(here.files);
    expect(here.files!.length).toBeGreaterThan(4);
  });

  test('gives back the arrays of a memtable, which the copy of the next one uses', () => {
    expect(here.jobs.givenBack).toBe(0);
    expect(there.jobs.givenBack).toBeGreaterThan(1);
  });

  test('gets the bits of each level', async () => {
    const [onThread, inSlices] = await Promise.all([run('levelsOnThread'), run('levelsInSlices')]);
    expect(onThread.jobs.done).toBeGreaterThan(0);
    expect(onThread.jobs.failed).toBe(0);
    expect(onThread.files).toEqual(inSlices.files);
  });

  test('works in a program that uses require()', async () => {
    const found = await run('require');
    expect(found.jobs).toEqual(there.jobs);
    expect(found.files).toEqual(here.files);
  });

  test('continues for the other databases when one is closed while its entries are packed', async () => {
    expect(await run('sharedCloses')).toMatchObject({ workers: 1, compacting: '0 ended, 1 more done, nothing lost' });
  });

  test('may die without losing anything: the main thread repeats its work, and a later job starts another', async () => {
    const dies = await run('dies');
    expect(dies.workers).toBe(2);
    expect(dies.jobs.failed).toBeGreaterThan(0);
    expect(dies.entries).toBe(open.entries);
  });

  test('is not needed: where the process may not have another, its work is done on the main thread', async () => {
    const flags = [process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission', '--no-warnings'];
    const found = await run('noThread', ...flags, '--allow-fs-read=*', '--allow-fs-write=*');
    expect(found).toMatchObject({ workers: 0, jobs: { done: 0, failed: 0 } });
    expect(found.files).toEqual(here.files);
  });

  test('does not keep a process alive that leaves its database open', () => {
    // run() has waited for the process to end.
    expect(open).toMatchObject({ workers: 1, jobs: { failed: 0 } });
  });

  test('is stopped when the database is closed, and nothing is lost', async () => {
    const closes = await run('closes');
    expect(closes.compacting).toBe('the database is closed');
    expect(closes.entries).toBe(open.entries);
  });

  test('can be shared by several databases, whose files are the same as with separate threads', async () => {
    const { workers, jobs, files, others } = await run('shared');
    expect(workers).toBe(1);
    expect(jobs).toMatchObject({ done: 4 * there.jobs.done, failed: 0 });
    expect([files, ...others!]).toEqual(Array.from({ length: 4 }, () => here.files));
  });

  test('starts again for the next database if it died, while databases that used it do their own work', async () => {
    const { workers, jobs, entries } = await run('sharedEnds');
    expect(workers).toBe(2);
    expect(jobs.failed).toBe(0);
    expect(entries).toBe(open.entries);
  });

  test('is not used with a custom comparator that it is not given', async () => {
    expect(await run('comparator')).toMatchObject({ workers: 0, jobs: { done: 0, failed: 0 } });
    expect(await run('pluginsWithoutModule')).toMatchObject({ workers: 0, jobs: { done: 0, failed: 0 } });
  });

  test('has the comparator, the policy and the codecs of a module; where it lacks one, the main thread does its work', async () => {
    const [onThread, inSlices, missing] = await Promise.all([run('plugins'), run('pluginsInSlices'), run('pluginMissing')]);
    expect(onThread).toMatchObject({ workers: 1, jobs: { failed: 0 } });
    expect(onThread.jobs.done).toBeGreaterThan(3);
    expect(onThread.files).toEqual(inSlices.files);
    expect(onThread.files).not.toEqual(here.files);
    expect(missing).toMatchObject({ workers: 1, jobs: { done: 0 } });
    expect(missing.jobs.failed).toBeGreaterThan(0);
    expect(missing.files).toEqual(inSlices.files);
  });
});
