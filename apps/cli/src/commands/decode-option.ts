/** The option `--decode` of `scan`, `get` and `find`, which `decoded.ts` implements. */
export const DECODE_OPTION = ['--decode', 'for what a browser or an Electron app stored: print the keys and values of IndexedDB, Local Storage and Session Storage as pages stored them'] as const;
