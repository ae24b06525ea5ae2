// What the lock does in other hosts than Node.js. The tests in tooling/host-tests run the hosts themselves.
import { createRequire } from 'node:module';
import process from 'node:process';
import { afterEach, expect, test, vi } from 'vitest';
import { hostLocks, type ImportAddOn } from '../src/node/host-locks.js';
import { rejection } from '@bloom/fixtures/caught';

const linux = { platform: 'linux', arch: 'x64' };

afterEach(() => vi.unstubAllGlobals());

const NODE = { node: '24.2.0' };

test('Node.js does not use the global Deno or Bun of a program', async () => {
  const dlopen = vi.fn();
  vi.stubGlobal('Deno', { version: { deno: '2.9.6' }, dlopen });
  vi.stubGlobal('Bun', { version: '1.4.5' });
  await hostLocks();
  expect(dlopen).not.toHaveBeenCalled();
});

// With musl, koffi itself chooses the add-on.
test.runIf(process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch) && 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header)(
  'Node.js on Linux with glibc loads the add-on of koffi and nothing else of that package',
  async () => {
    await hostLocks();
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => file.includes('/@koromix/'));
    expect(loaded).toEqual([expect.stringMatching(/\/koffi-linux-\w+\/linux_\w+\/koffi\.node$/)]);
  },
);

/** An installation in which only `present` can be imported, and the names that were asked for. */
function installation(present: Readonly<Record<string, unknown>>): { readonly asked: string[]; readonly importAddOn: ImportAddOn } {
  const asked: string[] = [];
  return {
    asked,
    importAddOn(name) {
      asked.push(name);
      if (name in present) return Promise.resolve(present[name]);
      return Promise.reject(Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' }));
    },
  };
}

const nativeLocks = { tryLock: () => true, unlock: () => undefined };

test.each(['darwin', 'win32'])('Node.js on %s takes one lock, with fs-native-extensions, which keeps out all programs', async (platform) => {
  const { asked, importAddOn } = installation({ 'fs-native-extensions': nativeLocks });
  const locks = await hostLocks({ platform, arch: 'arm64', versions: NODE }, importAddOn);
  expect(asked).toEqual(['fs-native-extensions']);
  expect([locks.tryLock(3), locks.flock, locks.noFlock]).toEqual([true, undefined, undefined]);
});

test('Node.js on Linux takes the locks of fs-native-extensions where koffi is missing, and says that it has no flock', async () => {
  const { asked, importAddOn } = installation({ 'fs-native-extensions': nativeLocks });
  const locks = await hostLocks({ ...linux, versions: NODE }, importAddOn);
  expect(asked).toEqual(['@koromix/koffi-linux-x64', 'fs-native-extensions']);
  expect(locks.flock).toBeUndefined();
  expect(locks.noFlock).toBe("flock needs the package @koromix/koffi-linux-x64, which cannot be loaded (Cannot find package '@koromix/koffi-linux-x64')");
});

test('Node.js on Linux without either add-on is refused with the names of both', async () => {
  const refusal = await rejection(hostLocks({ ...linux, arch: 'arm64', versions: NODE }, installation({}).importAddOn));
  expect(refusal).toMatchObject({ code: 'BLOOM_NO_LOCK', message: expect.stringMatching(/@koromix\/koffi-linux-arm64 or fs-native-extensions, and neither.*lock: 'none'$/) as string });
});

test('a platform without a prebuilt add-on is distinguished from one where the add-on is not installed', async () => {
  const host = { platform: 'linux', arch: 'riscv64', versions: NODE };
  const importAddOn = (): Promise<never> => Promise.reject(new Error("Cannot find addon '.'"));
  expect(await rejection(hostLocks(host, importAddOn))).toMatchObject({ message: expect.stringMatching(/cannot be loaded here \(linux on riscv64\): use a platform for which it is prebuilt, .*lock: 'none'$/) as string });
  expect(await rejection(hostLocks(host, installation({}).importAddOn))).toMatchObject({ message: expect.stringMatching(/which is not there: install it, .*lock: 'none'$/) as string });
});

test('Node.js on Linux loads the C library with koffi once, whatever the number of locks', async () => {
  const load = vi.fn(() => ({ func: (name: string) => () => (name === 'flock' ? -1 : 0) }));
  const { importAddOn } = installation({ '@koromix/koffi-linux-x64': { load } });
  for (let i = 0; i < 3; i++) {
    const locks = await hostLocks({ ...linux, versions: NODE }, importAddOn);
    expect([locks.tryLock(3), locks.flock!.tryLock(3), locks.noFlock]).toEqual([true, false, undefined]);
  }
  expect(load.mock.calls).toEqual([[null]]);
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

test('a file system that refuses locks is distinguished from a lock that is held', async () => {
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
  const locks = await hostLocks({ ...linux, versions: { deno: '2.9.6' } });
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
