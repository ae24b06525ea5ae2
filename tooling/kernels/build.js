// Compiles the AssemblyScript listed in each package's assembly/kernels.json, and writes the modules, as text, into the
// package's sources. With --check it writes nothing, and fails if a committed module differs from what its source compiles to.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import asc from 'assemblyscript/asc';

/**
 * @typedef {object} Kernel
 * @property {string} source the AssemblyScript, a path in the package
 * @property {string} target the source file for the module, a path in the package
 * @property {string} name the name of the constant in `target`
 * @property {number} pages the size of the memory, in pages of 64 KiB
 * @property {number} [maxPages] the size to which it can grow; `pages` by default
 */

const packages = join(import.meta.dirname, '../../packages');
const isCheck = process.argv.includes('--check');

/**
 * @param {string} folder of the package
 * @param {Kernel} kernel
 */
async function compile(folder, { source, pages, maxPages = pages }) {
  /** @type {Uint8Array | undefined} */
  let binary;
  // Every host with SIMD also has memory.fill. A host without them cannot compile the module.
  const options = ['--optimizeLevel', '3', '--shrinkLevel', '1', '--noAssert', '--runtime', 'stub', '--enable', 'simd', '--enable', 'bulk-memory'];
  const memory = ['--initialMemory', String(pages), '--maximumMemory', String(maxPages)];
  // `compileString` would also export what the imported sources export.
  const { error, stderr } = await asc.main([source, '--baseDir', folder, '--outFile', 'kernel.wasm', ...options, ...memory], {
    writeFile(_, contents) {
      if (typeof contents !== 'string') binary = contents;
    },
  });
  if (error !== null || binary === undefined) throw new Error(`${source} does not compile`, { cause: error ?? stderr });
  return binary;
}

/**
 * @param {Kernel} kernel
 * @param {Uint8Array} binary
 */
function sourceFile({ source, name }, binary) {
  const lines = Buffer.from(binary).toString('hex').match(/.{1,108}/g) ?? [];
  return `// Generated from ${source} by tooling/kernels.

/** The WebAssembly module, in hexadecimal: longer than base64, but a quarter shorter when compressed. */
export const ${name} =
${lines.map((line) => `  '${line}'`).join(' +\n')};
`;
}

for (const name of readdirSync(packages)) {
  const folder = join(packages, name);
  const list = join(folder, 'assembly/kernels.json');
  if (!existsSync(list)) continue;
  /** @type {unknown} */
  const kernels = JSON.parse(readFileSync(list, 'utf8'));
  for (const kernel of /** @type {Kernel[]} */ (kernels)) {
    const binary = await compile(folder, kernel);
    const text = sourceFile(kernel, binary);
    const target = join(folder, kernel.target);
    if (!isCheck) {
      writeFileSync(target, text);
      console.log(`packages/${name}/${kernel.target}: ${binary.length} bytes`);
    } else if (readFileSync(target, 'utf8') !== text) {
      process.stderr.write(`packages/${name}/${kernel.target} is not what ${kernel.source} compiles to: run pnpm kernels\n`);
      process.exitCode = 1;
    }
  }
}
