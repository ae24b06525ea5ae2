import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, '.github/workflows');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

test.each(readdirSync(folder))('%s calls scripts that exist, and no others', (name) => {
  const commands = [...readFileSync(join(folder, name), 'utf8').matchAll(/npx --yes pnpm@10 (?<script>[\w-]+)/g)].map(({ groups }) => groups!.script!);
  expect(commands.length).toBeGreaterThan(1);
  expect(commands.filter((script) => script !== 'install' && !(script in scripts))).toEqual([]);
});
