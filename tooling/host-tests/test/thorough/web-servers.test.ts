// Databases behind web servers that people use: one that was closed has an empty log, of which no range can be sent.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import httpServer from 'http-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'bloom-web-servers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeAll(async () => {
  const path = join(folder, 'closed');
  const database = await Database.open(new WritableNodeFolder(path), { lock: 'none' });
  for (let i = 0; i < 1_000; i++) await database.put(utf8(`key ${i}`), utf8(`value ${i}`));
  await database.flush();
  await database.close();
  // All is in a table now.
  const logs = readdirSync(path).filter((name) => name.endsWith('.log'));
  expect(logs.map((name) => statSync(join(path, name)).size)).toEqual([0]);
});

async function readAll(url: string): Promise<number> {
  const database = await DatabaseReader.open(new HttpFolder(`${url}/closed`));
  let entries = 0;
  for await (const [key, value] of database.entries()) entries += Number(String(value) === String(utf8(`value ${new TextDecoder().decode(key).slice(4)}`)));
  await database.close();
  return entries;
}

test("a database that was closed is read behind npm's http-server", async () => {
  const server = httpServer.createServer({ root: folder }) as unknown as { readonly server: Server };
  await new Promise<void>((resolve) => server.server.listen(0, '127.0.0.1', resolve));
  expect(await readAll(`http://127.0.0.1:${(server.server.address() as AddressInfo).port}`)).toBe(1_000);
  server.server.closeAllConnections();
  await new Promise((resolve) => server.server.close(resolve));
});

test("npm's http-server with a page for all other names, as for single-page apps, has no log but that of the database", async () => {
  const listening = async (server: unknown): Promise<Server> => {
    const { server: inner } = server as { readonly server: Server };
    await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
    return inner;
  };
  const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(folder, 'index.html'), '<!doctype html><html><title>An app</title></html>');
  const pages = await listening(httpServer.createServer({ root: folder }));
  // As its README advises: what is not there is requested from an address that ends in a question mark.
  const server = await listening(httpServer.createServer({ root: folder, proxy: `${urlOf(pages)}?` }));
  expect(await (await fetch(`${urlOf(server)}/closed/000999.log`)).text()).toContain('An app');
  expect(await readAll(urlOf(server))).toBe(1_000);
  const written = await Database.open(new WritableNodeFolder(join(folder, 'written')), { lock: 'none' });
  await written.put(utf8('key'), utf8('in the log'));
  await written.close();
  const database = await DatabaseReader.open(new HttpFolder(`${urlOf(server)}/written`));
  expect(database.describe().logs).toHaveLength(1);
  expect(await database.get(utf8('key'))).toEqual(utf8('in the log'));
  await database.close();
  for (const one of [pages, server]) {
    one.closeAllConnections();
    await new Promise((resolve) => one.close(resolve));
  }
});

const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) test.skip('no python3 on the PATH, so its web server is not run', () => {});

describe.runIf(hasPython)("Python's http.server, which has no ranges", () => {
  let server: ChildProcess;
  let url: string;

  beforeAll(async () => {
    server = spawn('python3', ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    url = await new Promise((resolve, reject) => {
      let output = '';
      server.stdout!.on('data', (data: Buffer) => {
        output += data.toString();
        const port = /port (\d+)/.exec(output)?.[1];
        if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
      });
      server.on('exit', () => reject(new Error(`python3 has ended: ${output}`)));
    });
  });

  afterAll(() => {
    server.kill();
  });

  test('a database that was closed is read behind it', async () => {
    expect(await readAll(url)).toBe(1_000);
  });
});
