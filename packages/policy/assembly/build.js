// Compiles bloom-kernel.ts and writes the module, as text, into src: `pnpm --filter @bloom/policy kernel`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';

const source = readFileSync(join(import.meta.dirname, 'bloom-kernel.ts'), 'utf8');
const { error, stderr, binary } = await asc.compileString(
  { 'kernel.ts': source },
  { optimizeLevel: 3, noAssert: true, runtime: 'stub', enable: ['simd'] },
);
if (error !== null || binary === null) throw new Error(stderr.toString(), { cause: error });

const text = Buffer.from(binary).toString('base64');
writeFileSync(
  join(import.meta.dirname, '../src/bloom-kernel.wasm.ts'),
  `// Made of assembly/bloom-kernel.ts by assembly/build.js.

/** The WebAssembly module of the kernel, in base64. */
export const BLOOM_KERNEL =
${text.match(/.{1,108}/g)?.map((line) => `  '${line}'`).join(' +\n') ?? ''};
`,
);
console.log(`${binary.length} bytes`);
