// Databases published by the command: parts, boundaries, assembly, publication and garbage.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { S3Server, seeded } from '@bloom/fixtures';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { bloomProcess, type Outcome, outcome, program, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const SMALL = ['--part-size', '4K', '--block-size', '1K'];

const keyAt = (i: number): string => `key${String(i).padStart(6, '0')}`;
function tsv(from: number, to: number, value: (i: number) => string = (i) => `value ${i}`): string {
  return Array.from({ length: to - from }, (_, n) => `${keyAt(from + n)}\t${value(from + n)}\n`).join('');
}

/** Writes entries as parts into a folder. @returns the file with their descriptions. */
async function parts(folder: string, args: readonly string[], input: string): Promise<string> {
  const { code, stdout, stderr } = await bloom(['part', '-', '-q', '-o', folder, ...SMALL, ...args], scratch.path, input);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return scratch.write(`${folder}-${args.join('').replace(/\W/g, '')}.jsonl`, stdout);
}

const json = (text: string | Buffer): Record<string, unknown> => JSON.parse(text.toString()) as Record<string, unknown>;

/** Makes a database of descriptions, and publishes it. */
async function publishParts(folder: string, descriptions: readonly string[], store: string): Promise<Record<string, unknown>> {
  const assembly = await bloomPrints(['assemble', folder, ...descriptions, '--previous', store], scratch.path);
  return json(await bloomPrints(['publish', '-', folder, store], scratch.path, assembly));
}

describe('a database that is published', () => {
  const server = new S3Server();
  const env = { AWS_ACCESS_KEY_ID: 'test-id', AWS_SECRET_ACCESS_KEY: 'very-secret-key', AWS_ENDPOINT_URL: '', AWS_REGION: 'eu-west-1' };
  const withBucket = (args: readonly string[], input = ''): Promise<Outcome> => bloom(args, scratch.path, input, env);
  beforeAll(async () => {
    await server.listen();
    env.AWS_ENDPOINT_URL = new URL(server.url).origin;
    server.isPublic = true;
  });
  afterAll(() => server.close());

  test('is published by a pipe where its parts are', async () => {
    const descriptions = await parts('piped', ['--sequence', '1'], tsv(0, 200));
    const { code, stdout, stderr } = await shell(`bloom assemble piped ${descriptions} | bloom publish - piped`, scratch.path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(json(stdout)).toMatchObject({ isPublished: true, isNew: true });
  });

  test('in a folder is read there, takes deliveries with deletions, is merged and collected; tasks that run again change nothing', async () => {
    const first = await parts('p1', ['--sequence', '1'], tsv(0, 1500));
    expect(readFileSync(join(scratch.path, first), 'utf8').split('\n').length).toBeGreaterThan(3);
    expect(await publishParts('p1', [first], 'www')).toMatchObject({ isPublished: true, isNew: true, previous: null });
    scratch.write('gone.tsv', `${keyAt(7)}\t\n`);
    const second = await parts('p2', ['--sequence', '2', '--deletions', 'gone.tsv'], tsv(5, 7, (i) => `again ${i}`));
    const files = readdirSync(scratch.at('p2')).sort();
    expect(readFileSync(scratch.at(await parts('p2', ['--sequence', '2', '--deletions', 'gone.tsv'], tsv(5, 7, (i) => `again ${i}`))))).toEqual(readFileSync(scratch.at(second)));
    expect(readdirSync(scratch.at('p2')).sort()).toEqual(files);
    expect(await publishParts('p2', [second], 'www')).toMatchObject({ isNew: true, newParts: 1 });
    const before = readdirSync(scratch.at('www')).sort();
    expect(await publishParts('p2', [second], 'www')).toMatchObject({ isPublished: true, isNew: false });
    expect(readdirSync(scratch.at('www')).sort()).toEqual(before);
    const read = await bloom(['get', 'www', keyAt(4), keyAt(5), keyAt(6), keyAt(7), keyAt(1499)], scratch.path);
    expect(read).toMatchObject({ code: 1, stderr: `bloom: ${keyAt(7)}: not found\n` });
    expect(read.stdout.toString()).toBe('value 4\nagain 5\nagain 6\nvalue 1499\n');

    const merged = await bloomPrints(['part', '--levels', '5,6', 'www', '-q', '--sequence', '2', '-o', 'p3', ...SMALL], scratch.path);
    scratch.write('p3.jsonl', merged);
    expect(await publishParts('p3', ['p3.jsonl'], 'www')).toMatchObject({ isNew: true });
    expect(merged).not.toContain('deletion"');
    expect(await bloomPrints(['count', 'www'], scratch.path)).toBe('1499\n');
    const collected = json(await bloomPrints(['gc', 'www', '--keep', '0', '--younger-than', '0s', '--dry-run'], scratch.path));
    expect(collected.deleted).not.toHaveLength(0);
    expect(json(await bloomPrints(['gc', 'www'], scratch.path))).toMatchObject({ deleted: [] });
    expect(json(await bloomPrints(['gc', 'www', '--keep', '0', '--younger-than', '0s'], scratch.path))).toEqual({ ...collected, isDryRun: false });
    expect(await bloom(['verify', 'www'], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^bloom: www: nothing is wrong with MANIFEST-\d+, \d+ parts with 1,499 entries\n$/) as string });
  });

  test('with filters of an unknown policy is verified except for its filters', async () => {
    scratch.write('renamed.mjs', `const all = { name: 'test.Renamed', createFilter: (keys, dst) => dst.extend(1).fill(1), keyMayMatch: () => true };\nexport default all;`);
    const policy = ['--policy', './renamed.mjs'];
    const assembled = await bloom(['assemble', 'renamed', await parts('renamed', ['--sequence', '1', ...policy], tsv(0, 400)), '--previous', 'renamed'], scratch.path);
    expect(await bloom(['publish', '-', 'renamed', 'renamed'], scratch.path, assembled.stdout.toString())).toMatchObject({ code: 0 });
    expect(await bloom(['verify', 'renamed'], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringMatching(/: nothing is wrong with MANIFEST-\d+, .*; not checked: filters \(.*test\.Renamed.*\)\n$/) as string });
    expect(await bloom(['verify', 'renamed', ...policy], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringMatching(/400 entries\n$/) as string });
  });

  test('in an unknown order is verified except for its order', async () => {
    scratch.write('downwards.mjs', `export default { name: 'downwards', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: (a) => a, findShortSuccessor: (a) => a };`);
    const args = ['--comparator', './downwards.mjs'];
    const description = await parts('down', ['--sequence', '1', ...args], tsv(0, 400).trim().split('\n').reverse().map((line) => `${line}\n`).join(''));
    const bucket = 's3://bucket/down';
    for (const store of ['down', bucket]) {
      const assembled = await withBucket(['assemble', 'down', description, '--previous', store, ...args]);
      expect(await withBucket(['publish', '-', 'down', store], assembled.stdout.toString())).toMatchObject({ code: 0, stderr: '' });
    }
    for (const input of ['down', bucket]) {
      expect(await withBucket(['verify', input])).toMatchObject({ code: 2, stderr: expect.stringContaining('BLOOM_OTHER_COMPARATOR') as string });
      expect(await withBucket(['verify', '--any-order', input])).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/: nothing is wrong with MANIFEST-\d+, \d+ parts? with 400 entries; not checked: key order \(--any-order\)\n$/) as string,
      });
    }
  });

  test('in a bucket is read over HTTP, and no output has a credential', async () => {
    const first = await parts('b1', ['--sequence', '1'], tsv(0, 2000));
    const bucket = 's3://bucket/words';
    const assembled = await withBucket(['assemble', 'b1', first, '--previous', bucket]);
    const published = await withBucket(['publish', '-', 'b1', bucket], assembled.stdout.toString());
    expect(published).toMatchObject({ code: 0, stderr: '' });
    expect(json(published.stdout)).toMatchObject({ isPublished: true, isNew: true });
    expect(await bloomPrints(['get', server.url, keyAt(1234)], scratch.path)).toBe('value 1234\n');
    expect(await bloom(['verify', server.url], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringContaining('parts with 2,000 entries') as string });
    const verified = await withBucket(['verify', bucket, '--json']);
    expect(json(verified.stdout)).toMatchObject({ input: bucket, entries: 2000, findings: [] });
    expect(json((await withBucket(['gc', bucket])).stdout)).toMatchObject({ deleted: [] });
    expect(await withBucket(['get', bucket, keyAt(1234)])).toMatchObject({ code: 0, stdout: Buffer.from('value 1234\n'), stderr: '' });
    expect((await withBucket(['count', bucket])).stdout.toString()).toBe('2000\n');
    expect(await withBucket(['convert', bucket, '-q', '-o', 'from-bucket.ldb'])).toMatchObject({ code: 0, stderr: '' });
    expect(await bloomPrints(['count', 'from-bucket.ldb'], scratch.path)).toBe('2000\n');
    expect(json((await withBucket(['stat', bucket, '--json'])).stdout)).toMatchObject({ logs: [], nextFileNumber: String(2n ** 62n + 1n) });
    expect(await withBucket(['get', bucket, keyAt(1234), '--trace'])).toMatchObject({ code: 0, stderr: expect.stringContaining('request: GET CURRENT') as string });
    expect(await withBucket(['get', bucket, keyAt(1234), '--header', 'a: b'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--header is for http://') as string });
    expect(await withBucket(['get', 's3://bucket/nothing', 'a'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/^bloom: s3:\/\/bucket\/nothing: /) as string });
    for (const name of ['CURRENT', '000005.ldb', '000004.log']) expect(await withBucket(['scan', `${bucket}/${name}`])).toMatchObject({ code: 2, stderr: expect.stringContaining('s3:// names a whole database') as string });
    // Straight into the bucket, as tasks on other machines do.
    const second = await withBucket(['part', '-', '-q', '--sequence', '2', '-o', bucket], tsv(1999, 2001));
    const line = await withBucket(['assemble', bucket, '-', '--previous', bucket], second.stdout.toString());
    expect(json((await withBucket(['publish', '-', bucket], line.stdout.toString())).stdout)).toMatchObject({ isNew: true });
    expect(await bloomPrints(['get', server.url, keyAt(2000)], scratch.path)).toBe('value 2000\n');
    server.fault = () => ({ kind: 'status', status: 403 });
    const refused = await withBucket(['verify', bucket]);
    server.fault = () => undefined;
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('BLOOM_STORE_FAILED') as string });
    env.AWS_ENDPOINT_URL = 'http://user:very-secret-key@127.0.0.1:1';
    const withPassword = await withBucket(['verify', bucket]);
    // As where there is nothing to set.
    Object.assign(env, { AWS_ENDPOINT_URL: new URL(server.url).origin, AWS_ENDPOINT_URL_S3: '', AWS_SESSION_TOKEN: '' });
    expect((await withBucket(['verify', bucket])).code).toBe(0);
    expect(withPassword).toMatchObject({ code: 2, stderr: 'bloom: AWS_ENDPOINT_URL must be http:// or https:// with a host, and without a password\n' });
    for (const { stdout, stderr } of [assembled, published, verified, second, line, refused, withPassword]) {
      expect(stdout.toString() + stderr).not.toMatch(/very-secret-key|test-id/);
    }
    const { code, stderr } = await bloom(['verify', bucket], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: AWS_ACCESS_KEY_ID is not set in the environment\n' });
  });

  describe('in a bucket', () => {
    // The name of a table, after which a slash says that it is a folder.
    const bucket = 's3://bucket/whole.ldb/';
    beforeAll(async () => {
      const description = await parts('whole', ['--sequence', '1'], tsv(0, 600));
      for (const store of ['whole', bucket]) {
        const assembled = await withBucket(['assemble', 'whole', description, '--previous', store]);
        expect(await withBucket(['publish', '-', 'whole', store], assembled.stdout.toString())).toMatchObject({ code: 0, stderr: '' });
      }
    });

    test.each([
      'get INPUT key000007 key000599 absent',
      'get --all-versions INPUT key000007',
      'get --explain INPUT key000007',
      'scan INPUT --gte key000100 --lt key000200',
      'scan --reverse INPUT',
      'scan --all-versions --live INPUT',
      'scan --all-versions INPUT',
      'scan --all-versions --gte key000100 --lt key000110 INPUT',
      'scan --all-versions --decode INPUT',
      'count INPUT',
      'count --bytes --by-prefix 6 INPUT',
      'find key000007 INPUT',
      'find absent INPUT',
      'diff INPUT whole',
      'diff whole INPUT',
      'verify INPUT --json',
      'convert INPUT -q -o converted.ldb',
      'advise compression -q --json INPUT',
      'get --decode INPUT a',
      'scan --decode INPUT',
    ])('bloom %s prints what it prints of a folder', async (line) => {
      const printed = async (input: string): Promise<object> => {
        const { code, stdout, stderr } = await withBucket(line.replace('INPUT', input).split(' '));
        const text = (bytes: string | Buffer): string => bytes.toString().replaceAll(bucket, 'whole').replaceAll(' opened,', '').replaceAll(/"seconds":[\d.]+/g, '').replaceAll(/\d+\.\d\d s\b/g, '');
        return { code, stdout: text(stdout), stderr: text(stderr), converted: line.startsWith('convert') ? scratch.read('converted.ldb') : undefined };
      };
      const ofFolder = await printed('whole');
      expect(ofFolder).toMatchObject({ stderr: expect.not.stringContaining('BLOOM_') as string });
      expect(await printed(bucket)).toEqual(ofFolder);
    });

    test('is described by stat, without what it has not read', async () => {
      const [ofFolder, ofBucket] = [json((await withBucket(['stat', '--json', 'whole'])).stdout), json((await withBucket(['stat', '--json', bucket])).stdout)];
      const { comparator, lastSequence, manifest, nextFileNumber } = ofFolder;
      expect(ofBucket).toMatchObject({ folder: bucket, comparator, lastSequence, manifest, nextFileNumber, dropped: [] });
    });

    test.each(['get INPUT key000007', 'scan INPUT', 'count INPUT', 'find key000007 INPUT', 'stat INPUT', 'verify INPUT'])('bloom %s --trace reports the requests', async (line) => {
      const { code, stderr } = await withBucket([...line.replace('INPUT', bucket).split(' '), '--trace']);
      expect(code).toBe(0);
      expect(stderr).toContain('request: GET CURRENT');
      expect(stderr).toMatch(/bloom: s3:\/\/bucket\/whole\.ldb\/: \d+ requests, [\d,]+ bytes/);
    });

    test('has obsolete files that scan --all-versions prints', async () => {
      const [key] = [...server.objects.keys()].filter((name) => /^words\/\d+\.ldb$/.test(name));
      server.objects.set('whole.ldb/000009.ldb', server.objects.get(key!)!);
      const { code, stdout } = await withBucket(['scan', '--all-versions', bucket, '-f', 'tsv']);
      server.objects.delete('whole.ldb/000009.ldb');
      expect(code).toBe(0);
      expect(stdout.toString()).toContain('\t000009.ldb\t');
    });

    test('that may not be listed is read, except by scan --all-versions, which says why', async () => {
      server.fault = (request) => (request === 'GET ?list' ? { kind: 'status', status: 403 } : undefined);
      const all = await withBucket(['scan', '--all-versions', bucket]);
      const live = await withBucket(['scan', '--all-versions', '--live', bucket]);
      server.fault = () => undefined;
      expect(all).toMatchObject({ code: 2, stderr: expect.stringMatching(/^bloom: [^\n]*could not list it[^\n]*\n$/) as string });
      expect(live.code).toBe(0);
    });

    test('is not read by the name of a table', async () => {
      expect(await withBucket(['get', bucket.slice(0, -1), 'a'])).toMatchObject({ code: 2, stderr: expect.stringContaining('s3:// names a whole database, not a file in it') as string });
    });

    test('has damage that is reported with the name of the file', async () => {
      const key = [...server.objects.keys()].find((name) => /^whole\.ldb\/\d+\.ldb$/.test(name))!;
      const object = server.objects.get(key)!;
      const bytes = Buffer.from(object.bytes);
      bytes[50]! ^= 1;
      server.objects.set(key, { ...object, bytes });
      const { code, stderr } = await withBucket(['count', bucket]);
      server.objects.set(key, object);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`^bloom: s3://bucket/${key}: data block at offset 0: `) as string });
    });

    test.each([
      [403, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be those of a user who may read the bucket'],
      [301, 'AWS_REGION must be the region of the bucket'],
      [400, 'AWS_REGION must be the region of the bucket'],
    ])('is refused with the status %i, and the failure says what to check', async (status, advice) => {
      server.fault = () => ({ kind: 'status', status });
      const { code, stderr } = await withBucket(['get', bucket, 'a']);
      server.fault = () => undefined;
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`^bloom: ${bucket}: .*${advice}\n$`) as string });
    });
  });
});

test('ranges of sorted runs give the same parts wherever they are merged, and merge cuts at the same keys', async () => {
  const random = seeded(5);
  const runs: string[] = [];
  for (let run = 0; run < 4; run++) {
    const lines = Array.from({ length: 800 }, () => `${keyAt(random.below(20_000))}\tof run ${run}\n`);
    runs.push(`run${run}.ldb`);
    await bloomPrints(['build', '-', '--sort', '-q', '--block-size', '1K', '-o', `run${run}.ldb`], scratch.path, lines.join(''));
  }
  const cuts = (await bloomPrints(['split', ...runs, '-n', '3', '--no-internal'], scratch.path)).trim().split('\n');
  expect(cuts).toHaveLength(2);
  expect(await bloomPrints(['split', ...runs.slice().reverse(), '-n', '3', '--no-internal'], scratch.path)).toBe(`${cuts.join('\n')}\n`);
  const bounds = [...cuts, undefined].map((lt, i) => [...(i === 0 ? [] : ['--gte', cuts[i - 1]!]), ...(lt === undefined ? [] : ['--lt', lt])]);
  const reduce = async (range: readonly string[], folder: string): Promise<string> => bloomPrints(['part', ...runs, '-q', '--hex', ...range, '--sequence', '1', '-o', folder, ...SMALL], scratch.path);
  const lines: string[] = [];
  for (const range of bounds) lines.push(await reduce(range, 'ranges'));
  expect(await Promise.all(bounds.map((range) => reduce(range, 'again')))).toEqual(lines);
  scratch.write('ranges.jsonl', lines.join(''));
  await publishParts('ranges', ['ranges.jsonl'], 'ranges');
  await bloomPrints(['merge', ...runs, '-q', '-o', 'whole.ldb'], scratch.path);
  const whole = await bloomPrints(['scan', 'whole.ldb'], scratch.path);
  expect(await bloomPrints(['scan', 'ranges'], scratch.path)).toBe(whole);
  let cut = '';
  for (const [i, range] of bounds.entries()) {
    await bloomPrints(['merge', ...runs, '-q', '--hex', ...range, '-o', `cut${i}.ldb`], scratch.path);
    cut += await bloomPrints(['scan', `cut${i}.ldb`], scratch.path);
  }
  expect(cut).toBe(whole);
});

describe('publishers', () => {
  const published = async (): Promise<unknown> => (await bloom(['verify', 'race', '--json'], scratch.path)).stdout.toString().trim();

  test('eight at once on one state: exactly one wins, the others exit with 1 and go on from the new state', async () => {
    await publishParts('r0', [await parts('r0', ['--sequence', '1'], tsv(0, 500))], 'race');
    const assemblies = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const descriptions = await parts(`r${i + 1}`, ['--sequence', '2'], tsv(i, i + 1, () => `of ${i}`));
        return bloomPrints(['assemble', `r${i + 1}`, descriptions, '--previous', 'race'], scratch.path);
      }),
    );
    const outcomes = await Promise.all(assemblies.map((assembly, i) => bloomProcess(['publish', '-', `r${i + 1}`, 'race'], scratch.path, assembly)));
    const winners = outcomes.flatMap(({ code }, i) => (code === 0 ? [i] : []));
    expect(winners).toHaveLength(1);
    const winner = json(assemblies[winners[0]!]!).manifest;
    for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
      expect(stderr).toBe('');
      if (i !== winners[0]) expect({ exit: code, ...json(stdout) }).toMatchObject({ exit: 1, isPublished: false, code: 'BLOOM_CONFLICT', current: winner, lastSequence: '2' });
    }
    const loser = (winners[0]! + 1) % 8;
    const again = await parts(`r${loser + 1}`, ['--sequence', '3'], tsv(loser, loser + 1, () => `of ${loser}`));
    expect(await publishParts(`r${loser + 1}`, [again], 'race')).toMatchObject({ isPublished: true, isNew: true, previous: winner });
    expect(await bloomPrints(['get', 'race', keyAt(winners[0]!), keyAt(loser)], scratch.path)).toBe(`of ${winners[0]}\nof ${loser}\n`);
  });

  test('--if-match names what must be published', async () => {
    const descriptions = await parts('m1', ['--sequence', '9'], tsv(0, 10));
    const assembly = await bloomPrints(['assemble', 'm1', descriptions], scratch.path);
    expect(json(assembly).previous).toBeNull();
    const current = (json((await published()) as string)).manifest as string;
    expect((await bloom(['publish', '-', 'm1', 'race'], scratch.path, assembly)).code).toBe(1);
    expect((await bloom(['publish', '-', 'm1', 'race', '--if-match', 'MANIFEST-123456'], scratch.path, assembly)).code).toBe(1);
    expect(json((await published()) as string).manifest).toBe(current);
    expect(await bloom(['publish', '-', 'm1', 'race', '--if-match', 'latest'], scratch.path, assembly)).toMatchObject({ code: 2, stderr: 'bloom: --if-match latest: must be the name of a MANIFEST, or none\n' });
    expect((await bloom(['publish', '-', 'm1', 'race', '--if-match', current], scratch.path, assembly)).code).toBe(0);
    expect(await bloomPrints(['count', 'race'], scratch.path)).toBe('10\n');
  });

  test('killed at any moment leave the old database or the new one, whole, and run again', async () => {
    await publishParts('k0', [await parts('k0', ['--sequence', '1'], tsv(0, 1500))], 'killed');
    const assembly = await bloomPrints(['assemble', 'k1', await parts('k1', ['--sequence', '2'], tsv(0, 1500, (i) => `new ${i}`)), '--previous', 'killed'], scratch.path);
    const random = seeded(Number(process.env.BLOOM_SEED ?? 3));
    const started = performance.now();
    cpSync(scratch.at('killed'), scratch.at('timed'), { recursive: true });
    expect((await bloom(['publish', '-', 'k1', 'timed'], scratch.path, assembly)).code).toBe(0);
    const wholeMs = performance.now() - started;
    const seen = { old: 0, new: 0 };
    const kills = Number(process.env.BLOOM_PUBLISHER_KILLS ?? 4);
    for (let i = 0; i < kills; i++) {
      const folder = `killed${i}`;
      cpSync(scratch.at('killed'), scratch.at(folder), { recursive: true });
      const child = spawn(process.execPath, [program, 'publish', '-', 'k1', folder], { cwd: scratch.path });
      const over = outcome(child);
      child.stdin.on('error', () => undefined);
      child.stdin.end(assembly);
      await new Promise((resolve) => setTimeout(resolve, wholeMs * (0.2 + random.below(70) / 100)));
      child.kill('SIGKILL');
      await over;
      const { findings, manifest } = json(await bloomPrints(['verify', folder, '--json'], scratch.path));
      expect(findings).toEqual([]);
      seen[manifest === json(assembly).manifest ? 'new' : 'old']++;
      expect(json(await bloomPrints(['publish', '-', 'k1', folder], scratch.path, assembly))).toMatchObject({ isPublished: true });
      expect(await bloomPrints(['get', folder, keyAt(1)], scratch.path)).toBe('new 1\n');
    }
    expect(seen.old).toBeGreaterThan(0);
    expect(seen.old + seen.new).toBe(kills);
  });
});

describe('what is wrong', () => {
  const fails = async (args: readonly string[], input = ''): Promise<string> => {
    const { code, stdout, stderr } = await bloom(args, scratch.path, input);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr.split('\n')).toHaveLength(2);
    return stderr.slice('bloom: '.length, -1);
  };

  test('with the order of entries is said with its place', async () => {
    expect(await fails(['part', '-', '--sequence', '1', '-o', 'w'], 'a\t1\nc\t2\nb\t3\n')).toBe('standard input: line 3: key "b" comes before "c" (line 2); bloom build --sort accepts keys in any order');
    expect(await fails(['part', '-', '--sequence', '1', '-o', 'w'], 'a\t1\na\t2\n')).toContain('line 2: key "a" is a duplicate (line 1)');
    scratch.write('deleted.tsv', 'b\t\na\t\n');
    expect(await fails(['part', '-', '--deletions', 'deleted.tsv', '--sequence', '1', '-o', 'w'], 'c\t1\n')).toBe('deleted.tsv: line 2: key "a" comes before "b" (line 1); bloom build --sort accepts keys in any order');
    scratch.write('deleted.tsv', 'b\t\n');
    expect(await fails(['part', '-', '--deletions', 'deleted.tsv', '--sequence', '1', '-o', 'w'], 'b\t1\n')).toBe('deleted.tsv: a key to delete is also one of the entries: 0x62');
    expect(existsSync(scratch.at('w'))).toBe(false);
  });

  test.each([
    ['UTF-16, as Windows PowerShell redirects output', 'utf-16', (text: string) => Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'utf16le')],
    ['UTF-8 with a byte order mark', 'utf-8', (text: string) => Buffer.from(`\ufeff${text}`)],
  ])('reads descriptions and assemblies in %s', async (_, folder, encoded) => {
    const description = readFileSync(scratch.at(await parts(folder, ['--sequence', '1'], tsv(0, 20))), 'utf8');
    scratch.write('windows.jsonl', encoded(description));
    const assembly = await bloomPrints(['assemble', folder, 'windows.jsonl'], scratch.path);
    scratch.write('assembly.json', encoded(assembly));
    expect(await bloomPrints(['publish', 'assembly.json', folder, `${folder}-published`], scratch.path)).toContain('"isPublished":true');
  });

  test('with parts is refused by assemble, which writes no MANIFEST', async () => {
    const a = await parts('x', ['--sequence', '1'], tsv(0, 20));
    const b = await parts('x', ['--sequence', '1', '--no-filter'], tsv(10, 30));
    expect(await fails(['assemble', 'x', a, b])).toMatch(/ overlap \(BLOOM_OVERLAP\)$/);
    expect(await fails(['assemble', 'elsewhere', a])).toMatch(/^elsewhere does not have \d+\.ldb \(BLOOM_MISSING_PART\)$/);
    expect(await fails(['assemble', 'x', 'none.jsonl'])).toBe('none.jsonl: no such file or folder');
    const description = readFileSync(scratch.at(a), 'utf8');
    scratch.write('cut.jsonl', description.slice(0, -1));
    expect(await fails(['assemble', 'x', 'cut.jsonl'])).toBe('cut.jsonl: the last line is incomplete: the task that printed it did not finish');
    scratch.write('bad.jsonl', description.replace('"entries":20', '"entries":"20"'));
    expect(await fails(['assemble', 'x', 'bad.jsonl'])).toMatch(/^bad.jsonl: line 1: not the description of a part: entries is not a whole number/);
    expect(await fails(['assemble', 'x', '-'], '')).toBe('the descriptions are empty: there are no parts');
    scratch.write('reverse.mjs', `export default { name: 'reverse', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: (a) => a, findShortSuccessor: (a) => a };`);
    const other = await parts('y', ['--sequence', '1', '--comparator', './reverse.mjs'], tsv(0, 20).trim().split('\n').reverse().map((line) => `${line}\n`).join(''));
    expect(await fails(['assemble', 'y', other])).toMatch(/is sorted by the comparator reverse, expected leveldb.BytewiseComparator \(BLOOM_OTHER_COMPARATOR\)$/);
    await publishParts('x', [a], 'x');
    expect(await fails(['assemble', 'y', other, '--previous', 'x', '--comparator', './reverse.mjs'])).toContain('BLOOM_OTHER_COMPARATOR');
    expect(await fails(['assemble', 'x', b, '--previous', 'x'])).toContain('BLOOM_OLD_SEQUENCE');
    expect(readdirSync(scratch.at('y')).filter((name) => name.startsWith('MANIFEST'))).toEqual([]);
  });

  test('with the bytes of a part is found when it is copied or published, and nothing is published', async () => {
    const descriptions = await parts('z', ['--sequence', '1'], tsv(0, 2000));
    const assembly = await bloomPrints(['assemble', 'z', descriptions], scratch.path);
    const [name] = readdirSync(scratch.at('z')).filter((file) => file.endsWith('.ldb'));
    const bytes = scratch.read(join('z', name!));
    bytes[100]! ^= 1;
    writeFileSync(scratch.at(join('z', name!)), bytes);
    for (const place of [['z', 'target'], ['z']]) {
      expect(await fails(['publish', '-', ...place], assembly)).toMatch(/^z has other bytes under the name \d+\.ldb: .*\(BLOOM_OTHER_BYTES\)$/);
    }
    expect(existsSync(scratch.at('target/CURRENT')) || existsSync(scratch.at('z/CURRENT'))).toBe(false);
    expect(await fails(['publish', '-', 'z', 'target'], '{"manifest":"MANIFEST-1"}')).toBe('standard input: is not what bloom bulk assemble prints');
    expect(await fails(['publish', '-', 'z', 'target'], '')).toBe('standard input: is empty: did bloom bulk assemble fail?');
    expect(await fails(['gc', 'z'])).toContain('BLOOM_NOT_PUBLISHED');
  });

  test('in a published folder is a finding of verify', async () => {
    await publishParts('v', [await parts('v', ['--sequence', '1'], tsv(0, 2000))], 'v');
    const [name] = readdirSync(scratch.at('v')).filter((file) => file.endsWith('.ldb'));
    const bytes = scratch.read(join('v', name!));
    bytes[50]! ^= 1;
    writeFileSync(scratch.at(join('v', name!)), bytes);
    const { code, stdout, stderr } = await bloom(['verify', 'v'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^bloom: v: 1 finding in MANIFEST-\d+, \d+ parts/) as string });
    expect(stdout.toString()).toMatch(/^\d+\.ldb: its bytes are those of \d+\.ldb \(BLOOM_OTHER_BYTES\)\n$/);
  });

  test('with the command line is said before anything is written', async () => {
    expect((await bloom(['part', '-', '-o', 'w'], scratch.path)).code).toBe(2);
    expect(await fails(['part', '-', '-o', 'w', '--sequence', '-1'])).toContain('--sequence');
    expect(await fails(['part', '--sequence', '1', '-o', 'w'])).toContain('no input');
    expect(await fails(['part', '-', '--gte', 'a', '--sequence', '1', '-o', 'w'])).toBe('--gte, --lt, --internal, --no-internal and --drop-deletions are for tables');
    expect(await fails(['part', '-', '--sequence', '1', '-o', 'https://example.org/'])).toContain('a store is a folder, or s3://BUCKET/PREFIX');
    for (const url of ['gs://bucket/words', 'file:///tmp/words', 'ftp://user:secret@example.org/words?key']) {
      const shown = url.replace(/user:secret@|\?key/g, '');
      expect(await fails(['part', '-', '--sequence', '1', '-o', url])).toBe(`${shown}: is a URL where a local path is needed`);
      expect(await fails(['gc', url])).toBe(`${shown}: is a URL where a local path is needed`);
      expect(existsSync(scratch.at(url.split('/')[0]!))).toBe(false);
    }
    expect(await fails(['split', '-n', '2'])).toContain('no tables');
    expect(await fails(['gc', 'w', '--younger-than', '3'])).toContain('It must be a number with s, m, h or d');
  });
});

describe('a merge of levels', () => {
  /** Publishes four deliveries of one key each, and merges the levels of the second and the third. */
  async function fourDeliveries(folder: string): Promise<string> {
    for (const [i, key] of ['a', 'b', 'c', 'd'].entries()) {
      await publishParts(folder, [await parts(folder, ['--sequence', String(i + 1)], `${key}\tvalue\n`)], folder);
    }
    return merged(folder, '4,5', 3);
  }

  async function merged(folder: string, levels: string, sequence: number): Promise<string> {
    return scratch.write(`${folder}-${levels}.jsonl`, await bloomPrints(['part', '--levels', levels, folder, '-q', '--sequence', String(sequence), '-o', folder], scratch.path));
  }

  const keysIn = (folder: string): Promise<string> => bloomPrints(['scan', folder, '-f', 'tsv'], scratch.path);
  const refused = async (args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await bloom(['assemble', ...args], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    return stderr;
  };

  test('is refused if another merge has replaced one of the levels, so no delivery is lost', async () => {
    const job = await fourDeliveries('overlapping');
    expect(await publishParts('overlapping', [await merged('overlapping', '5,6', 2)], 'overlapping')).toMatchObject({ isNew: true });
    expect(await refused(['overlapping', job, '--previous', 'overlapping'])).toContain('the merged levels are no longer published in overlapping');
    expect(await keysIn('overlapping')).toBe('a\tvalue\nb\tvalue\nc\tvalue\nd\tvalue\n');
  });

  test('finds its levels where another merge has moved them, and can be assembled and published again', async () => {
    await fourDeliveries('moved');
    const job = await merged('moved', '3,4', 4);
    expect(await publishParts('moved', [await merged('moved', '5,6', 2)], 'moved')).toMatchObject({ isNew: true });
    expect(await publishParts('moved', [job], 'moved')).toMatchObject({ isNew: true });
    expect(await publishParts('moved', [job], 'moved')).toMatchObject({ isNew: false });
    expect(await keysIn('moved')).toBe('a\tvalue\nb\tvalue\nc\tvalue\nd\tvalue\n');
  });

  test('that leaves no entry is published without parts, and refused afterwards', async () => {
    await publishParts('gone', [await parts('gone', ['--sequence', '1'], 'a\tvalue\n')], 'gone');
    scratch.write('gone-keys.tsv', 'a\t\n');
    await publishParts('gone', [await parts('gone', ['--sequence', '2', '--deletions', 'gone-keys.tsv'], '')], 'gone');
    const job = await merged('gone', '5,6', 2);
    expect(readFileSync(scratch.at(job), 'utf8')).toMatch(/^\{"merges":"[0-9a-f]{64}"\}\n$/);
    expect(await publishParts('gone', [job], 'gone')).toMatchObject({ isNew: true, newParts: 0 });
    await publishParts('gone', [await parts('gone', ['--sequence', '3'], 'b\tvalue\n')], 'gone');
    expect(await refused(['gone', job, '--previous', 'gone'])).toContain('the merged levels are no longer published');
    expect(await keysIn('gone')).toBe('b\tvalue\n');
  });

  test('is refused without --previous, beside a delivery, and if its tasks merged different levels', async () => {
    const job = await fourDeliveries('mixed');
    expect(await refused(['mixed', job])).toContain('pass --previous');
    const delivery = await parts('mixed', ['--sequence', '9'], 'e\tvalue\n');
    expect(await refused(['mixed', job, delivery, '--previous', 'mixed'])).toContain('these parts are a delivery');
    expect(await refused(['mixed', job, await merged('mixed', '5,6', 2), '--previous', 'mixed'])).toContain('the tasks did not merge the same levels');
  });
});

test('a task that is killed while it writes parts leaves no half-written part, and gives the same ones when it runs again', async () => {
  const input = tsv(0, 30_000);
  scratch.write('many.tsv', input);
  const whole = await bloomPrints(['part', 'many.tsv', '-q', '--sequence', '1', '-o', 'unhurt', ...SMALL], scratch.path);
  const child = spawn(process.execPath, [program, 'part', '-', '-q', '--sequence', '1', '-o', 'hurt', ...SMALL], { cwd: scratch.path });
  const over = outcome(child);
  // Its input never ends, so it cannot be done before it is killed.
  child.stdin.on('error', () => undefined);
  child.stdin.write(input);
  await expect.poll(() => (existsSync(scratch.at('hurt')) ? readdirSync(scratch.at('hurt')).length : 0)).toBeGreaterThan(2);
  child.kill('SIGKILL');
  expect(await over).toMatchObject({ signal: 'SIGKILL' });
  const names = readdirSync(scratch.at('hurt')).filter((name) => name.endsWith('.ldb'));
  expect(names.length).toBeLessThan(whole.trim().split('\n').length);
  for (const name of names) expect(scratch.read(join('hurt', name))).toEqual(scratch.read(join('unhurt', name)));
  expect(await bloomPrints(['part', 'many.tsv', '-q', '--sequence', '1', '-o', 'hurt', ...SMALL], scratch.path)).toBe(whole);
});
