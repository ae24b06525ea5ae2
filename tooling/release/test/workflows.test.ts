import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HOST_TESTS } from '@bloom/vitest-config';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

test.each(readdirSync(folder))('%s calls scripts that exist, and no others', (name) => {
  const commands = [...readFileSync(join(folder, name), 'utf8').matchAll(/npx --yes pnpm@10 (?<script>[\w-]+)/g)].map(({ groups }) => groups!.script!);
  expect(commands.length).toBeGreaterThan(1);
  expect(commands.filter((script) => script !== 'install' && !(script in scripts))).toEqual([]);
});

test('the systems and versions of Node.js that have the quick tests have the thorough ones that depend on them', () => {
  const [quick] = readFileSync(join(folder, 'test.yml'), 'utf8').split('\n  everything:\n');
  const given = /^ {6}- run: >-\n {10}npx --yes pnpm@10 test-thorough\n(?<files>(?: {10}.+\n)+)/m.exec(quick!)!.groups!.files!;
  expect(given.trim().split(/\s+/)).toEqual(HOST_TESTS);
  expect(HOST_TESTS.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('the lockfile has native packages for every system of the matrix', () => {
  const names = [...readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8').matchAll(/^ {2}'?(?<name>@?[\w./-]+)@[^:]*:$/gm)].map(({ groups }) => groups!.name!);
  const families = new Set(names.flatMap((name) => /^(?<family>.*?[/-])linux(?:musl)?-/.exec(name)?.groups?.family ?? []));
  // On other systems, fs-native-extensions locks folders, and sharp for Windows contains libvips.
  for (const family of ['@koromix/koffi-', '@img/sharp-libvips-']) families.delete(family);
  expect(families).toContain('@turbo/');
  const missing = [...families].flatMap((family) =>
    [/^darwin-/, /^(?:win32|windows)-/].filter((system) => !names.some((name) => name.startsWith(family) && system.test(name.slice(family.length)))).map((system) => `${family}${system.source}`),
  );
  expect(missing).toEqual([]);
});
