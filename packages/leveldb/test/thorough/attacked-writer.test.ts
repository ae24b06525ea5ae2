// What others do to the folder of a database while it is written. tooling/long-tests has longer runs of each kind.
import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type Random, seeded } from '@bloom/fixtures';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { Database, type DatabaseOptions, WriteBatch } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, afterEach, describe, expect, test } from 'vitest';

const rounds = Number(process.env.BLOOM_ATTACKS ?? 1);
const seeds = Array.from({ length: rounds }, (_, i) => i + 1);

const root = mkdtempSync(join(tmpdir(), 'bloom-attacked-'));
const start = process.cwd();
afterEach(() => process.chdir(start));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const contents = (path: string): Map<string, string> => new Map(readdirSync(path).map((name) => [name, readFileSync(join(path, name), 'latin1')]));

function someOptions(random: Random): DatabaseOptions {
  return { writeBufferSize: 65_536, maxFileSize: 2 ** 20, reuseLogs: random.below(2) === 0, lock: random.below(4) === 0 ? 'none' : 'folder', compression: 'none' };
}

/** A database that is written, and what it must hold. */
class Writer {
  readonly path: string;
  readonly random: Random;
  readonly state = new Map<string, string>();
  /** The writes that failed, which may be there or not. */
  readonly doubtful = new Map<string, (string | undefined)[]>();
  #database: Database | undefined;

  constructor(path: string, random: Random) {
    this.path = path;
    this.random = random;
  }

  async open(): Promise<void> {
    this.#database = await Database.open(new WritableNodeFolder(this.path, { thread: false }), someOptions(this.random));
  }

  /** @returns the error, if there was one. */
  async step(): Promise<unknown> {
    const { random } = this;
    const database = this.#database!;
    try {
      switch (random.below(12)) {
        case 0:
          await database.flush();
          return undefined;
        case 1:
          if (random.below(3) === 0) await database.compactRange();
          return undefined;
        default: {
          const batch = new WriteBatch();
          const changes = new Map<string, string | undefined>();
          for (let i = random.below(20); i >= 0; i--) {
            const key = `key${random.below(200)}`;
            const value = random.below(5) === 0 ? undefined : text(random.bytes(random.below(3000)));
            changes.set(key, value);
            if (value === undefined) batch.delete(utf8(key));
            else batch.put(utf8(key), Buffer.from(value, 'latin1'));
          }
          try {
            await database.write(batch, { sync: random.below(3) === 0 });
          } catch (error) {
            for (const [key, value] of changes) this.doubtful.set(key, [...(this.doubtful.get(key) ?? []), value]);
            throw error;
          }
          for (const [key, value] of changes) {
            this.doubtful.delete(key);
            if (value === undefined) this.state.delete(key);
            else this.state.set(key, value);
          }
          return undefined;
        }
      }
    } catch (error) {
      return error;
    }
  }

  /** The number of the oldest log that the database needs. */
  get oldestLog(): number {
    return Number(this.#database!.describe().logs[0]!.number);
  }

  async close(): Promise<void> {
    await this.#database?.close();
    this.#database = undefined;
  }

  /** Opens the database and compares all of it. */
  async check(path = this.path): Promise<void> {
    const database = await Database.open(new WritableNodeFolder(path, { thread: false }), someOptions(this.random));
    const found = new Map<string, string>();
    for await (const [key, value] of database.entries()) found.set(text(key), text(value));
    await database.close();
    for (const key of new Set([...found.keys(), ...this.state.keys()])) {
      const expected = [this.state.get(key), ...(this.doubtful.get(key) ?? [])];
      if (!expected.includes(found.get(key))) expect.unreachable(`${key} has ${found.get(key)?.length} bytes, and should have ${expected.map((one) => one?.length).join(' or ')}`);
      // From here on it is known.
      const value = found.get(key);
      if (value === undefined) this.state.delete(key);
      else this.state.set(key, value);
    }
    this.doubtful.clear();
  }
}

function newWriter(seed: number): Writer {
  return new Writer(join(mkdtempSync(join(root, 'db-')), 'db'), seeded(seed));
}

const nextNumber = (path: string): number => Math.max(1, ...readdirSync(path).map((name) => Number(/(\d{6})/.exec(name)?.[1] ?? 0))) + 1;

if (!hasNamedPipes) test.skip('there is no mkfifo, so no odd file is a pipe', () => {});

describe.each(seeds)('with seed %i', (seed) => {
  test('odd files under the names of LevelDB, at any time, change nothing that is acknowledged and nothing outside', async () => {
    const writer = newWriter(seed);
    const { random, path } = writer;
    const outside = mkdtempSync(join(root, 'outside-'));
    const target = join(outside, 'target');
    writeFileSync(target, 'precious');
    const kinds: ((at: string) => void)[] = [
      (at) => symlinkSync(target, at),
      (at) => symlinkSync(join(outside, `new${random.below(100)}`), at),
      (at) => linkSync(target, at),
      (at) => mkdirSync(at),
      (at) => writeFileSync(at, random.bytes(random.below(5000))),
      ...(hasNamedPipes ? [makeNamedPipe] : []),
    ];
    await writer.open();
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 40; i++) {
        if (random.below(4) === 0) {
          const number = random.below(3) > 0 ? 1 + random.below(nextNumber(path) - 1) : nextNumber(path) + random.below(20);
          const digits = String(number).padStart(6, '0');
          const name = [`${digits}.ldb`, `${digits}.sst`, `${digits}.log`, `${digits}.dbtmp`, `MANIFEST-${digits}`][random.below(5)]!;
          const kind = kinds[random.below(kinds.length)]!;
          const names = readdirSync(path);
          const isTaken = names.some((one) => one.includes(digits));
          // A later log that cannot be read, or is of random bytes, is a reason to refuse the next opening.
          const isLaterLog = name.endsWith('.log') && number > writer.oldestLog;
          // A directory would be in the way of a file to come, since no file can replace it.
          const isInTheWay = kind === kinds[3] && number >= writer.oldestLog;
          if (!isTaken && !isLaterLog && !isInTheWay) kind(join(path, name));
        }
        const failure = await writer.step();
        if (failure === undefined) continue;
        // A directory has the name of a table that the background was about to make.
        expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'EISDIR' } });
        await writer.close();
        rmdirSync((failure as { cause: { path: string } }).cause.path);
        await writer.check();
        await writer.open();
      }
      await writer.close();
      expect(readFileSync(target, 'utf8')).toBe('precious');
      expect(readdirSync(outside)).toEqual(['target']);
      await writer.check();
      await writer.open();
    }
    await writer.close();
    if (random.below(2) === 0) await Database.repair(new WritableNodeFolder(path));
    await Database.destroy(new WritableNodeFolder(path)).catch((error: unknown) => expect((error as { code?: string }).code).toMatch(/EISDIR|EPERM/));
    expect(readFileSync(target, 'utf8')).toBe('precious');
    expect(readdirSync(outside)).toEqual(['target']);
  });

  test('a folder that is replaced, moved or deleted at any time stops its writer, and its replacement stays unchanged', async () => {
    const writer = newWriter(seed);
    const { random, path } = writer;
    for (let round = 0; round < 8; round++) {
      await writer.open();
      for (let i = random.below(30); i > 0; i--) expect(await writer.step()).toBeUndefined();
      const aside = `${path}-${round}`;
      const other = new Writer(path, random);
      const way = random.below(3);
      if (way === 0) rmSync(path, { recursive: true });
      else renameSync(path, aside);
      if (random.below(2) === 0) {
        await other.open();
        for (let i = 0; i < 30; i++) expect(await other.step()).toBeUndefined();
        await other.close();
      } else {
        mkdirSync(path);
      }
      const before = contents(path);
      let failure: unknown;
      for (let i = 0; i < 300 && failure === undefined; i++) failure = await writer.step();
      expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_FOLDER_CHANGED' } });
      await writer.close();
      expect(contents(path)).toEqual(before);
      if (before.size > 0) await other.check();
      rmSync(path, { recursive: true });
      if (way === 0) {
        writer.state.clear();
        writer.doubtful.clear();
      } else {
        // The folder that was moved has all that was acknowledged.
        renameSync(aside, path);
        await writer.check();
      }
    }
  });

  test('changes of the current directory at any time do not mix up two databases of the same relative path', async () => {
    const random = seeded(seed);
    const folders = [mkdtempSync(join(root, 'a-')), mkdtempSync(join(root, 'b-'))];
    const writers: Writer[] = [];
    for (const folder of folders) {
      process.chdir(folder);
      const writer = new Writer('db', random);
      await writer.open();
      writers.push(writer);
    }
    for (let i = 0; i < 200; i++) {
      process.chdir([...folders, root, '/'][random.below(4)]!);
      const which = random.below(2);
      expect(await writers[which]!.step()).toBeUndefined();
      if (random.below(40) === 0) {
        await writers[which]!.close();
        process.chdir(folders[which]!);
        await writers[which]!.open();
      }
    }
    for (const [i, writer] of writers.entries()) {
      process.chdir([...folders].reverse()[i]!);
      await writer.close();
      await writer.check(join(folders[i]!, 'db'));
    }
  });

  test('files of a database that are deleted while it is open are missed, and no acknowledged synced write is lost in silence', async () => {
    const writer = newWriter(seed);
    const { random, path } = writer;
    await writer.open();
    for (let i = 0; i < 40; i++) expect(await writer.step()).toBeUndefined();
    const deleted = readdirSync(path).filter((name) => /\.log$|^LOCK$/.test(name) && random.below(2) === 0);
    for (const name of deleted) unlinkSync(join(path, name));
    const isWhole = deleted.length === 0;
    let failure: unknown;
    for (let i = 0; i < 300 && failure === undefined; i++) failure = await writer.step();
    const closing = await writer.close().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (closing !== undefined) expect([closing, failure, isWhole]).toMatchObject([{ code: 'BLOOM_FOLDER_CHANGED' }, undefined, false]);
    if (isWhole) {
      expect(failure).toBeUndefined();
      await writer.check();
    } else if (failure !== undefined) {
      expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'BLOOM_FOLDER_CHANGED' } });
    }
  });
});

// The superuser may do everything, so another user does it.
const someone = process.getuid?.() === 0 ? 65_534 : undefined;

describe.runIf(process.getuid !== undefined).each(seeds)('with seed %i, and permissions that are taken away', (seed) => {
  test('each call gives an error of the folder or ends writing, and all that was acknowledged is there when they are back', async () => {
    const random = seeded(seed);
    const parent = mkdtempSync(join(root, 'permissions-'));
    const writer = new Writer(join(parent, 'db'), random);
    const { path } = writer;
    if (someone !== undefined) {
      chownSync(parent, someone, someone);
      chmodSync(root, 0o755);
      process.setegid!(someone);
      process.seteuid!(someone);
    }
    try {
      for (let round = 0; round < 8; round++) {
        await writer.open();
        for (let i = random.below(20); i >= 0; i--) expect(await writer.step()).toBeUndefined();
        const mode = [0o000, 0o555, 0o500, 0o300][random.below(4)]!;
        chmodSync(path, mode);
        let failure: unknown;
        for (let i = 0; i < 60 && failure === undefined; i++) failure = await writer.step();
        if (failure !== undefined) expect(failure).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: expect.stringMatching(/EACCES|EPERM/) as string } });
        await writer.close();
        await Database.open(new WritableNodeFolder(path)).then(
          (database) => database.close(),
          (error: unknown) => expect((error as { code?: string }).code).toMatch(/EACCES|EPERM|BLOOM_NO_LOCK/),
        );
        chmodSync(path, 0o755);
        await writer.check();
        // One file that may not be read or written.
        const names = readdirSync(path).filter((name) => /^\d+\.(log|ldb)$|^MANIFEST|^CURRENT/.test(name));
        const name = names[random.below(names.length)]!;
        chmodSync(join(path, name), [0o000, 0o444][random.below(2)]!);
        let database: Database | undefined;
        try {
          database = await Database.open(new WritableNodeFolder(path, { thread: false }), someOptions(random));
          for await (const entry of database.entries()) expect(entry.length).toBe(2);
        } catch (error) {
          expect((error as { code?: string }).code).toMatch(/EACCES|EPERM/);
        } finally {
          await database?.close();
        }
        if (existsSync(join(path, name))) chmodSync(join(path, name), 0o644);
        await writer.check();
      }
    } finally {
      if (someone !== undefined) {
        process.seteuid!(0);
        process.setegid!(0);
      }
    }
  });
});
