import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const NAMES = /^export (?:class|interface|type) (\w+)/gm;

test('every type name of classic-level is exported by both entry points', async () => {
  const classic = await readFile(join(dirname(createRequire(import.meta.url).resolve('classic-level')), 'index.d.ts'), 'utf8');
  const names = [...classic.matchAll(NAMES)].map(([, name]) => name!).filter((name) => name !== 'ClassicLevel');
  expect(names.length).toBeGreaterThan(15);
  for (const entry of ['index', 'node']) {
    const source = await readFile(join(import.meta.dirname, `../src/${entry}.ts`), 'utf8');
    const exported = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list!.split(',').map((name) => name.trim()));
    expect(exported).toEqual(expect.arrayContaining(names));
  }
});
