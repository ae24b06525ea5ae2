// Compiles bloom-kernel.ts and writes the module, as text, into src: `pnpm --filter @bloom/policy kernel`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import asc from 'assemblyscript/asc';

const source = readFileSync(join(import.meta.dirname, 'bloom-kernel.ts'), 'utf8');
/** Where the filter starts, 384 KiB, and 16 MiB for it: of these, what no filter needs is never touched. */
const pages = 6 + 256;
const { error, stderr, binary } = await asc.compileString(
  { 'kernel.ts': source },
  { optimizeLevel: 3, noAssert: true, runtime: 'stub', enable: ['simd'], initialMemory: pages, maximumMemory: pages },
);
if (error !== null || binary === null) throw new Error(stderr.toString(), { cause: error });

const text = Buffer.from(binary).toString('hex');
writeFileSync(
  join(import.meta.dirname, '../src/bloom-kernel.wasm.ts'),
  `// Made of assembly/bloom-kernel.ts by assembly/build.js.

/** The WebAssembly module of the kernel, in hexadecimal: longer than base64, but a quarter shorter when compressed. */
export const BLOOM_KERNEL =
${text.match(/.{1,108}/g)?.map((line) => `  '${line}'`).join(' +\n') ?? ''};
`,
);
console.log(`${binary.length} bytes`);
