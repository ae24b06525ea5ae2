import { build } from 'esbuild';

/** Bundles a module for a page, where its exports are in the global `bloom`. */
export async function browserBundle(contents: string, resolveDir: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir },
    bundle: true,
    format: 'iife',
    globalName: 'bloom',
    platform: 'browser',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]!.contents;
}
