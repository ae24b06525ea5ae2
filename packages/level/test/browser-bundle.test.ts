import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const PAGE = `
import { BloomLevel } from '@bloom/level';
import { WritableMemoryFolder } from '@bloom/leveldb';
export async function run() {
  const level = new BloomLevel(new WritableMemoryFolder(), { valueEncoding: 'json' });
  await level.put('hello', { to: 'world' });
  await level.sublevel('sub').put('a', 'b');
  const value = await level.get('hello');
  const keys = await level.keys({ keyEncoding: 'buffer' }).all();
  await level.close();
  return JSON.stringify([value, keys.map(String)]);
}`;

test('a bundle for browsers has no code of Node, and runs where there is nothing of Node', async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: PAGE, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'page',
    conditions: ['bloom-source'],
  });
  const inputs = Object.keys(metafile.inputs);
  expect(inputs.some((input) => input.endsWith('packages/level/src/index.ts') || input.endsWith('src/index.ts'))).toBe(true);
  expect(inputs.filter((input) => /^node:|\/src\/node(\.ts|\/)|\.node\.ts$/.test(input))).toEqual([]);
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);

  // What browsers have too. There is neither `process` nor `Buffer`, nor `require`.
  const context = createContext({ TextEncoder, TextDecoder, performance, setTimeout, queueMicrotask, AbortController });
  expect(runInContext('[typeof process, typeof Buffer, typeof require].join()', context)).toBe('undefined,undefined,undefined');
  const result: unknown = await runInContext(`${outputFiles[0]!.text}; page.run()`, context);
  expect(result).toBe(JSON.stringify([{ to: 'world' }, ['!sub!a', 'hello']]));
});
