import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { goldenDatabases } from '@bloom/fixtures';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, build } from '../bloom.js';
import { outcome, program, Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const golden = goldenDatabases().find(({ name }) => name === 'levels')!.path;

beforeAll(async () => {
  cpSync(golden, scratch.at('db'), { recursive: true });
  scratch.write('db/notes.txt', 'not of the database');
  scratch.write('secret.ldb', 'secret');
  symlinkSync('../secret.ldb', scratch.at('db/999999.ldb'));
  await build('capitals.ldb', [], scratch.path, 'France\tParis\n');
});

/** Runs `explore` while `work` runs, and ends it with SIGINT. */
async function explored(input: string, work: (page: URL) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, [program, 'explore', input, '--no-open'], { cwd: scratch.path });
  const over = outcome(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  await work(new URL(/http:\S+/.exec(line.toString())![0]));
  child.kill('SIGINT');
  expect(await over).toMatchObject({ signal: 'SIGINT', stderr: '' });
}

/** The answer to a path as it is written, which `fetch` would normalise. */
function answerTo(page: URL, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    request({ host: page.hostname, port: page.port, path, headers, method }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece)).on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(pieces) }));
    })
      .on('error', reject)
      .end();
  });
}

describe('explore', () => {
  test('serves the page and the files of a folder, also in ranges, and nothing else', async () => {
    await explored('db', async (page) => {
      expect(page.hostname).toBe('127.0.0.1');
      expect(page.hash).toBe('#/database?url=files/');
      expect((await answerTo(page, '/')).body.toString()).toContain('<!doctype html>');
      const current = scratch.read('db/CURRENT');
      expect(await answerTo(page, '/files/CURRENT')).toEqual({ status: 200, body: current });
      expect(await answerTo(page, '/files/CURRENT', { Range: 'bytes=2-4' })).toEqual({ status: 206, body: current.subarray(2, 5) });
      expect(await answerTo(page, '/files/CURRENT', { Range: 'bytes=-3' })).toEqual({ status: 206, body: current.subarray(-3) });
      expect((await answerTo(page, '/files/CURRENT', { Range: 'bytes=99-' })).status).toBe(416);
      const refused = ['/files/notes.txt', '/files/999999.ldb', '/files/', '/files/../secret.ldb', '/files/..%2fsecret.ldb', '/files/%2e%2e/secret.ldb', '/..%2f..%2fpackage.json', '/assets/..%2findex.html', '/%', '//etc/passwd'];
      for (const path of refused) expect([path, await answerTo(page, path)]).toEqual([path, { status: 404, body: Buffer.alloc(0) }]);
      expect((await answerTo(page, '/files/CURRENT', { Host: 'evil.example' })).status).toBe(403);
      for (const method of ['POST', 'PUT', 'DELETE']) expect((await answerTo(page, '/files/CURRENT', {}, method)).status).toBe(405);
    });
  });

  test('serves one table, and not the files next to it', async () => {
    await explored('capitals.ldb', async (page) => {
      expect(page.hash).toBe('#/table?url=files/capitals.ldb');
      expect((await answerTo(page, '/files/capitals.ldb')).body).toEqual(scratch.read('capitals.ldb'));
      expect((await answerTo(page, '/files/secret.ldb')).status).toBe(404);
    });
  });

  test('serves a table that a symbolic link names', async () => {
    symlinkSync('capitals.ldb', scratch.at('link.ldb'));
    await explored('link.ldb', async (page) => {
      expect(page.hash).toBe('#/table?url=files/link.ldb');
      expect((await answerTo(page, '/files/link.ldb')).body).toEqual(scratch.read('capitals.ldb'));
    });
  });

  test.each([
    ['absent', 'absent: no such file or folder'],
    ['.', '.: it has no CURRENT, so it is not a LevelDB database'],
    ['https://example.org/db/', 'https://example.org/db/: is not a folder or a file: explore reads those of this machine'],
  ])('refuses %s', async (input, problem) => {
    expect(await bloom(['explore', input, '--no-open'], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${problem}\n` });
  });

  test('reports why CURRENT cannot be read, and not that it is missing', async () => {
    mkdirSync(scratch.at('loop'));
    symlinkSync('CURRENT', scratch.at('loop/CURRENT'));
    expect(await bloom(['explore', 'loop', '--no-open'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: loop/CURRENT: too many symbolic links\n' });
  });

  test('refuses a port on which another program listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect(await bloom(['explore', 'capitals.ldb', '--no-open', '--port', String(port)], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: port ${port}: in use by another program\n` });
    } finally {
      server.close();
    }
  });
});
