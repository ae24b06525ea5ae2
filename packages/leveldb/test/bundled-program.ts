import { mkdirSync, mkdtempSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

/**
 * Bundles a program in this folder into one JavaScript file. Compiling it for each process would take most of the test's time.
 *
 * @param outDir by default a new folder within the package, so that the program finds what it imports; the caller deletes it.
 * @param of whether the source of this project's packages is bundled, or the built packages are imported.
 * @returns the path of the file.
 */
export async function bundledProgram(name: string, outDir = folderInPackage(), of: 'source' | 'built' = 'source'): Promise<string> {
  await build({
    entry: [fileURLToPath(new URL(name, import.meta.url))],
    outDir,
    format: 'esm',
    outExtension: () => ({ js: '.mjs' }),
    config: false,
    silent: true,
    dts: false,
    noExternal: of === 'source' ? [/./] : [],
    // They have parts that are no JavaScript.
    external: ['fs-native-extensions', /^@koromix\//, ...(of === 'built' ? [/^@bloom\//] : [])],
    tsconfig: fileURLToPath(new URL('../tsconfig.node.json', import.meta.url)),
    esbuildOptions(options) {
      options.conditions = ['bloom-source', 'node'];
    },
  });
  return join(outDir, `${basename(name, '.ts')}.mjs`);
}

function folderInPackage(): string {
  const reports = fileURLToPath(new URL('../.vitest', import.meta.url));
  mkdirSync(reports, { recursive: true });
  return mkdtempSync(join(reports, 'program-'));
}
