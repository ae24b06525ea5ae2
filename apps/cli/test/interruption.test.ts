import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { patient, program, Scratch } from './bloom-process.js';

const scratches = { SIGTERM: new Scratch(), SIGINT: new Scratch() };

describe.runIf(process.platform !== 'win32')('a build that a signal ends', patient, () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s leaves the old table and no other file', async (signal) => {
    const scratch = scratches[signal];
    scratch.write('out.ldb', 'the old table');
    const child = spawn(process.execPath, [program, 'build', '-', '-o', 'out.ldb'], { cwd: scratch.path });
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    const closed = new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
      child.on('close', (code, by) => resolve([code, by]));
    });
    child.stdin.write('a\t1\nb\t2\n');
    // The input goes on: the build waits for it.
    await expect.poll(() => readdirSync(scratch.path).length, patient).toBe(2);
    child.kill(signal);
    expect(await closed).toEqual([null, signal]);
    expect(stderr).toBe('');
    expect(readdirSync(scratch.path)).toEqual(['out.ldb']);
    expect(scratch.read('out.ldb').toString()).toBe('the old table');
  });
});
