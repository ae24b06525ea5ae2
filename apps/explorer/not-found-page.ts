import { createHash } from 'node:crypto';

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; padding: 24px; box-sizing: border-box; font: 1.0625rem/1.5 system-ui, sans-serif; background: light-dark(#fbfaf7, #14131a); color: light-dark(#1d1b26, #efedf6); }
main { max-width: 34rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 12px; }
a { color: light-dark(#5b32b8, #bda3ff); }
`;

/**
 * The page that static hosts show for an address that has no file. It is shown at any depth below the folder, so it refers to no
 * other file, and needs the public address to lead back from everywhere.
 */
export function notFoundPage(base: string | undefined): string {
  const styleHash = createHash('sha256').update(STYLE).digest('base64');
  const href = base === undefined ? './' : new URL(base).pathname;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'" />
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <title>Certainly not here · Bloom explorer</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <main>
      <h1>Certainly not here</h1>
      <p>No page has this address. The explorer has one page only, and the rest of its addresses comes after a #.</p>
      <p><a href="${href}">To the Bloom explorer</a></p>
    </main>
  </body>
</html>
`;
}
