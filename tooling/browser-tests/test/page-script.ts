import { join } from 'node:path';
import { build } from 'esbuild';

/** Bundles a page's script from `src` with the packages as they are published. `pnpm test-thorough` builds them first. */
export async function pageScript(name: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../src', name)],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.contents;
}
