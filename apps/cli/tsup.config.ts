import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { program, thirdPartyLicences } from '@bloom/tsup-config';

export default {
  ...program(['src/bloom.ts', 'src/program.ts']),
  // One file with everything in it, which starts in a third of the time of many. CommonJS, because then Node need not start
  // its loader of ES modules.
  format: 'cjs',
  noExternal: [/./],
  splitting: false,
  // For `import.meta.url`.
  shims: true,
  esbuildPlugins: [thirdPartyLicences('dist/third-party-notices.txt')],
  onSuccess() {
    const hash = createHash('sha256').update(readFileSync('dist/program.cjs')).digest('hex').slice(0, 16);
    writeFileSync('dist/bloom.cjs', readFileSync('dist/bloom.cjs', 'utf8').replace('__PROGRAM_HASH__', hash));
    return Promise.resolve();
  },
};
