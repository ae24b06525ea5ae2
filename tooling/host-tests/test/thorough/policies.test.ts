// Each policy in other hosts: the same bytes and answers as in Node. workerd does not let a worker compile WebAssembly, so that
// plain loops do the work there.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, expect, test } from 'vitest';
import { hosts } from '../../src/hosts.js';
import { policyFigures } from '../../src/policy-figures.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-policies-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const expected = JSON.stringify(policyFigures());

async function bundled(entry: string, conditions: string[]): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../../src', entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions,
  });
  return outputFiles[0]!.text;
}

for (const { name, binary, run } of hosts) {
  test.runIf(binary !== undefined)(`${name} makes the filters of Node.js, and gives its answers`, async () => {
    const program = join(folder, `${name}.mjs`);
    writeFileSync(program, await bundled('policies-program.ts', ['node']));
    const { stdout } = await promisify(execFile)(binary!, [...run, program], { maxBuffer: 2 ** 26 });
    expect(stdout.trim() === expected).toBe(true);
  }, 300_000);
}

test('a Cloudflare worker, which may not compile WebAssembly, makes the filters of Node.js, and gives its answers', async () => {
  const script = await bundled('policies-worker.ts', ['workerd', 'worker', 'browser']);
  const miniflare = new Miniflare({ modules: true, script, compatibilityDate: '2026-04-01' });
  try {
    const response = await miniflare.dispatchFetch('http://worker/');
    expect((await response.text()) === expected).toBe(true);
  } finally {
    await miniflare.dispose();
  }
}, 300_000);
