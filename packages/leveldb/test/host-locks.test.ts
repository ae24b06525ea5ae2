// What the lock does in other hosts than Node.js. The tests in tooling/host-tests run the hosts themselves.
import { afterEach, expect, test, vi } from 'vitest';
import { hostLocks } from '../src/node/host-locks.js';
import { rejection } from './caught.js';

const linux = { platform: 'linux', arch: 'x64' };

afterEach(() => vi.unstubAllGlobals());

test('Node.js is left to fs-native-extensions, also when a program has a global Deno or Bun', async () => {
  vi.stubGlobal('Deno', { version: { deno: '2.9.6' } });
  vi.stubGlobal('Bun', { version: '1.4.5' });
  expect(await hostLocks()).toBeUndefined();
});

test.each([
  ['Deno 2.6.8', { ...linux, versions: { node: '24.2.0', deno: '2.6.8' } }, /^Deno 2\.6\.8 cannot lock folders: use Deno 2\.8 or later, .*lock: 'none'$/],
  ['Deno on macOS', { platform: 'darwin', arch: 'arm64', versions: { deno: '2.9.6' } }, /^Deno 2\.9\.6 can lock folders only on Linux.*lock: 'none'$/],
  ['Bun on Windows', { platform: 'win32', arch: 'x64', versions: { bun: '1.4.5' } }, /^Bun 1\.4\.5 can lock folders only on Linux.*lock: 'none'$/],
  ['Bun on a processor of 32 bits', { platform: 'linux', arch: 'arm', versions: { bun: '1.4.5' } }, /^Bun 1\.4\.5 can lock folders only on Linux.*lock: 'none'$/],
])('%s is refused with what to do, because a lock there would lock nothing', async (_, host, message) => {
  expect(await rejection(hostLocks(host))).toMatchObject({ name: 'DatabaseError', code: 'BLOOM_NO_LOCK', message: expect.stringMatching(message) as string });
});

test('a C library that cannot be called is a refusal with its cause', async () => {
  const cause = new Error('Requires ffi access');
  vi.stubGlobal('Deno', {
    dlopen() {
      throw cause;
    },
  });
  const refusal = await rejection(hostLocks({ ...linux, versions: { deno: '2.9.6' } }));
  expect(refusal).toMatchObject({ code: 'BLOOM_NO_LOCK', message: expect.stringMatching(/--allow-ffi.*lock: 'none'$/) as string, cause });
});

test('a file system that refuses locks is told from a lock that is held', async () => {
  const calls: number[] = [];
  const answers = { holder: 0, set: -1, ask: -1 };
  vi.stubGlobal('Deno', {
    dlopen: () => ({
      symbols: {
        fcntl(_fd: number, command: number, lock: Uint8Array) {
          calls.push(command);
          if (command === 36) lock[0] = answers.holder;
          return command === 36 ? answers.ask : answers.set;
        },
      },
      close() {},
    }),
  });
  const locks = (await hostLocks({ ...linux, versions: { deno: '2.9.6' } }))!;
  expect(() => locks.tryLock(3)).toThrow(expect.objectContaining({ code: 'BLOOM_NO_LOCK', message: expect.stringMatching(/^the file system of the folder does not lock files/) as string }));
  Object.assign(answers, { holder: 1, ask: 0 });
  expect(locks.tryLock(3)).toBe(false);
  // Released between the two calls, and taken again, each time.
  calls.length = 0;
  answers.holder = 2;
  expect(locks.tryLock(3)).toBe(false);
  expect(calls).toEqual([37, 36, 37, 36, 37, 36]);
  answers.set = 0;
  expect(locks.tryLock(3)).toBe(true);
});
