import { spawn } from 'node:child_process';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { build, outcome, program, Scratch } from '../bloom-process.js';

/** The size of a hole in the file. It takes no disk space, and searching it for blocks takes far longer than the test. */
const HOLE_BYTES = 2 ** 38;
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
    const child = spawn(process.execPath, [program, 'salvage', 'junk.ldb', '-o', 'out.ldb'], { cwd: scratch.path });
    const closed = outcome(child);
    await expect.poll(() => readdirSync(scratch.path).length).toBe(3);
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(readdirSync(scratch.path).sort()).toEqual(['good.ldb', 'junk.ldb']);
  });
});
