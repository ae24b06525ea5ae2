import { spawn } from 'node:child_process';
import { existsSync, open, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { describe, expect, test } from 'vitest';
import { bloom, build } from '../bloom.js';
import { outcome, program, Scratch } from '../bloom-process.js';

/** The size of a hole in the file. It takes no disk space, and searching it for blocks takes far longer than the test. */
const HOLE_BYTES = 2 ** 38;
/** Kills a search that ignores the signal. Then the test fails, and no process is left. */
const KILLED_AT_LAST = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
/** Enough entries for salvage to detect the form of the keys, and to begin the new table before it reaches the hole. */
const ENTRIES = 500;

const salvaging = new Scratch();
const scratches = { SIGTERM: new Scratch(), SIGINT: new Scratch() };

describe.runIf(process.platform !== 'win32')('a build that is interrupted by a signal', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('leaves the old table and no other file after %s', async (signal) => {
    const scratch = scratches[signal];
    scratch.write('out.ldb', 'the old table');
    const child = spawn(process.execPath, [program, 'build', '-', '-o', 'out.ldb'], { cwd: scratch.path });
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.on('close', (code, by) => resolve([code, by]));
    });
    child.stdin.write('a\t1\nb\t2\n');
    // The build is still waiting for more input.
    await expect.poll(() => readdirSync(scratch.path).length).toBe(2);
    child.kill(signal);
    expect(await closed).toEqual([null, signal]);
    expect(stderr).toBe('');
    expect(readdirSync(scratch.path)).toEqual(['out.ldb']);
    expect(scratch.read('out.ldb').toString()).toBe('the old table');
  });
});

describe.runIf(process.platform !== 'win32')('a salvage that is interrupted by a signal', () => {
  test('stops in the middle of its search, and leaves no file', async () => {
    const scratch = salvaging;
    await build('good.ldb', ['--sort'], scratch.path, Array.from({ length: ENTRIES }, (_, i) => `k${i}\tv\n`).join(''));
    scratch.write('junk.ldb', scratch.read('good.ldb').subarray(0, -48));
    truncateSync(join(scratch.path, 'junk.ldb'), HOLE_BYTES);
    const child = spawn(process.execPath, [program, 'salvage', 'junk.ldb', '-o', 'out.ldb'], { cwd: scratch.path, ...KILLED_AT_LAST });
    const closed = outcome(child);
    await expect.poll(() => readdirSync(scratch.path).length).toBe(3);
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(readdirSync(scratch.path).sort()).toEqual(['good.ldb', 'junk.ldb']);
  });
});

describe.runIf(process.platform !== 'win32')('a command that a signal ends midway', () => {
  /** More than what is sorted in memory, so that there are runs. */
  const lines = Array.from({ length: 60_000 }, (_, i) => `${(i * 7919) % 60_000}\t${'value '.repeat(10)}\n`).join('');

  /** Writes `input` to a command that waits for more, and ends it. @returns the names in its folder. */
  async function interrupted(args: readonly string[], scratch: Scratch, input: string | Buffer, isUnderWay: () => boolean): Promise<string[]> {
    const child = spawn(process.execPath, [program, ...args], { cwd: scratch.path });
    const closed = outcome(child);
    child.stdin.on('error', () => {
      // It is ended while it is written to.
    });
    child.stdin.write(input);
    await expect.poll(isUnderWay, { timeout: 60_000 }).toBe(true);
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT' });
    return readdirSync(scratch.path).sort();
  }

  test.runIf(hasNamedPipes)('leaves no run of build --sort', async () => {
    const scratch = new Scratch();
    // An input of its own before the one that waits: when it has been read to its end, there are runs.
    scratch.write('lines.tsv', lines);
    makeNamedPipe(scratch.at('fifo'));
    const waiting = new Promise<void>((resolve) => open(scratch.at('fifo'), 'w', () => resolve()));
    const state = { isWaiting: false };
    void waiting.then(() => (state.isWaiting = true));
    const names = await interrupted(['build', 'lines.tsv', 'fifo', '--sort', '--memory', '1MiB', '-o', 'out.ldb'], scratch, '', () => state.isWaiting);
    expect(names).toEqual(['fifo', 'lines.tsv']);
  });

  test('leaves whole batches of load, and a database that opens', async () => {
    const scratch = new Scratch();
    await interrupted(['load', 'db', '-', '--batch-size', '64K'], scratch, lines, () => existsSync(scratch.at('db')) && readdirSync(scratch.at('db')).some((name) => name.endsWith('.log') && statSync(scratch.at(`db/${name}`)).size > 200_000));
    expect(readdirSync(scratch.path)).toEqual(['db']);
    expect((await bloom(['verify', 'db'], scratch.path)).code).toBe(0);
    const { stdout } = await bloom(['count', 'db'], scratch.path);
    expect(Number(stdout.toString())).toBeGreaterThan(1000);
    expect((await bloom(['put', 'db', 'after', 'it'], scratch.path)).code).toBe(0);
  });

  test('ends load during --compact, after all entries have been written', async () => {
    const scratch = new Scratch();
    scratch.write('lines.tsv', lines.slice(0, 200_000));
    // Filters take so long that the merge of the tables takes far longer than the test.
    scratch.write(
      'slow.mjs',
      `const cell = new Int32Array(new SharedArrayBuffer(4));
      export class Slow {
        name = 'test.Slow';
        createFilter(keys, dst) { Atomics.wait(cell, 0, 0, 200); dst.extend(1); }
        keyMayMatch() { return true; }
      }`,
    );
    const child = spawn(process.execPath, [program, 'load', 'db', 'lines.tsv', '--compact', '--policy', './slow.mjs'], { cwd: scratch.path, ...KILLED_AT_LAST });
    const closed = outcome(child);
    // Nothing is written to a table before the merge.
    await expect.poll(() => existsSync(scratch.at('db')) && readdirSync(scratch.at('db')).some((name) => name.endsWith('.ldb')), { timeout: 30_000 }).toBe(true);
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT' });
    expect((await bloom(['count', 'db'], scratch.path)).stdout.toString()).toBe(`${lines.slice(0, 200_000).split('\n').length}\n`);
  });

  test.each([
    ['as soon as its first part is said to be written', 0],
    ['while it searches its second input', 300],
  ])('leaves no part of a salvage of several inputs, ended %s', async (_, milliseconds) => {
    const scratch = new Scratch();
    await build('good.ldb', ['--sort'], scratch.path, lines);
    scratch.write('junk.ldb', scratch.read('good.ldb').subarray(0, -48));
    truncateSync(scratch.at('junk.ldb'), HOLE_BYTES);
    const child = spawn(process.execPath, [program, 'salvage', 'good.ldb', 'junk.ldb', '-o', 'out.ldb'], { cwd: scratch.path, ...KILLED_AT_LAST });
    const closed = outcome(child);
    const said = await new Promise<string>((resolve) => child.stderr.once('data', (piece: Buffer) => resolve(piece.toString())));
    if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds));
    child.kill('SIGINT');
    expect(said).toContain('good.ldb: ');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(readdirSync(scratch.path).sort()).toEqual(['good.ldb', 'junk.ldb']);
  });

  test.each(['before', 'after'])('ends a salvage of several inputs on a signal that comes during the removal of a part, just %s it', async (when) => {
    const scratch = new Scratch();
    await build('good.ldb', ['--sort'], scratch.path, lines);
    scratch.write('junk.ldb', scratch.read('good.ldb').subarray(0, -48));
    truncateSync(scratch.at('junk.ldb'), HOLE_BYTES);
    // The removal is a synchronous call of half a second: signals are delivered when it is over.
    scratch.write(
      'slow.cjs',
      `const fs = require('node:fs');
      const { rmSync } = fs;
      const wait = () => { fs.writeSync(2, 'removing'); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500); };
      fs.rmSync = (...args) => {
        if (${when === 'before'}) wait();
        rmSync(...args);
        if (${when === 'after'}) wait();
      };`,
    );
    const child = spawn(process.execPath, ['--require', './slow.cjs', program, 'salvage', 'good.ldb', 'junk.ldb', '-o', 'out.ldb'], { cwd: scratch.path, ...KILLED_AT_LAST });
    const closed = outcome(child);
    await new Promise((resolve) => child.stderr.once('data', resolve));
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(readdirSync(scratch.path).sort()).toEqual(['good.ldb', 'junk.ldb', 'slow.cjs']);
  });

  test.each(['merge', 'convert'])('leaves nothing of %s', async (command) => {
    const scratch = new Scratch();
    await build('big.ldb', ['--sort', '--compression', 'none'], scratch.path, lines.repeat(3));
    scratch.write('out.ldb', 'the old table');
    // A policy that takes so long that the command takes far longer than the test.
    scratch.write(
      'slow.mjs',
      `const cell = new Int32Array(new SharedArrayBuffer(4));
      export class Slow {
        name = 'test.Slow';
        createFilter(keys, dst) { Atomics.wait(cell, 0, 0, 5); dst.extend(1); }
        keyMayMatch() { return true; }
      }`,
    );
    const child = spawn(process.execPath, [program, command, 'big.ldb', '-o', 'out.ldb', '--policy', './slow.mjs', '--filter-range', '1024'], { cwd: scratch.path });
    const closed = outcome(child);
    // The table that is written has another name.
    await expect.poll(() => readdirSync(scratch.path).length, { timeout: 60_000 }).toBe(4);
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(readdirSync(scratch.path).sort()).toEqual(['big.ldb', 'out.ldb', 'slow.mjs']);
    expect(scratch.read('out.ldb').toString()).toBe('the old table');
  });
});
