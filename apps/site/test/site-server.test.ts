import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SiteServer } from '../src/site-server.js';

test('a path without a file gets a 404, with the page for it if there is one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-site-'));
  const server = await SiteServer.start(0, folder);
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });
  const answer = async (path: string): Promise<unknown> => {
    const response = await fetch(`${server.origin}/${path}`);
    return [response.status, response.headers.get('content-type'), await response.text()];
  };
  expect(await answer('missing')).toEqual([404, 'text/plain', 'Not found']);
  expect(await answer('%zz')).toEqual([404, 'text/plain', 'Not found']);
  writeFileSync(join(folder, '404.html'), '<p>gone');
  writeFileSync(join(folder, 'a.txt'), 'text');
  expect(await answer('missing')).toEqual([404, 'text/html', '<p>gone']);
  expect(await answer('a.txt')).toEqual([200, 'text/plain', 'text']);
});
