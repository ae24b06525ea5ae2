import { basename, join } from 'node:path';
import { filesOf, publishedPackages } from '@bloom/package-check/published-packages.js';
import ts from 'typescript';

/** @typedef {{ name: string, folder: string, types: string }} EntryPoint an entry point, its package's folder, and its built types */

/** The entry points of the published packages, named like `sstable` and `sstable.node`. */
export const entryPoints = publishedPackages().flatMap(({ folder, manifest }) => {
  const files = Object.values(manifest.exports).flatMap(filesOf);
  // The types in dist/joined export those beside them.
  const modules = new Set(files.filter((file) => file.endsWith('.js')).map((file) => file.replace('/joined/', '/')));
  return [...modules].map((module) => {
    const file = module.replace(/\.js$/, '.d.ts');
    const entry = basename(file, '.d.ts');
    return { name: basename(folder) + (entry === 'index' ? '' : `.${entry}`), folder, types: join(folder, file) };
  });
});

/**
 * @param {readonly EntryPoint[]} of
 * @returns a program of their types
 */
export function programOf(of) {
  return ts.createProgram(
    of.map(({ types }) => types),
    { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'], types: ['node'], skipLibCheck: true, noEmit: true },
  );
}
