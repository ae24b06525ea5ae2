// Runs before a package is packed or published, in its folder. Without a build, a package would be published without code.
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { filesOf, packageAt, root } from './published-packages.js';

const { manifest } = packageAt(relative(root, process.cwd()));
const missing = new Set(filesOf([manifest.bin, manifest.exports, manifest.imports]).filter((file) => !existsSync(file)));
if (missing.size > 0) {
  console.error(`${manifest.name} is not built: ${[...missing].join(', ')} missing. Run \`npx pnpm@10 build\` first.`);
  process.exitCode = 1;
}
