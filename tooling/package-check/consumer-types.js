// Type-checks a program that imports every entry point of the packed packages, as a strict consumer would: with
// skipLibCheck off, under several compilers, module settings and libraries.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { outcomeOf, sideBySide } from '@bloom/checks/side-by-side.js';

/** @import { Packed } from './pack.js' */

const require = createRequire(import.meta.url);

/**
 * The newest compiler, the oldest supported one, and the one that the project uses. The newest, which is written in Go, compiles every pair of
 * host and module settings. The others take several times as long: the oldest compiles every host and every module setting, but not every pair, and
 * the project's, which lies between the two, every module setting, each with one of the first hosts.
 */
const compilers = [
  { compiler: 'typescript-newest', isFast: true, hostCount: 5 },
  { compiler: 'typescript-oldest', isFast: false, hostCount: 5 },
  { compiler: 'typescript', isFast: false, hostCount: 3 },
];

const modules = [
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'esnext', moduleResolution: 'bundler' },
];

/** abstract-level's types need @types/node, and so do the types of packages built on it. */
const NEEDS_NODE_TYPES = new Set(['@bloom/level', '@bloom/level/worker']);

const hosts = [
  { host: 'no DOM and no @types/node', lib: ['es2022'], types: [], programs: ['consumer.ts'] },
  { host: 'DOM', lib: ['es2022', 'dom'], types: [], programs: ['consumer.ts', 'returned-bytes.ts'] },
  { host: '@types/node', lib: ['es2022'], types: ['node'], programs: ['consumer.ts', 'node-consumer.ts'] },
  { host: 'DOM and @types/node', lib: ['es2022', 'dom'], types: ['node'], programs: ['consumer.ts', 'node-consumer.ts', 'returned-bytes.ts'] },
  // The library of programs for classic-level may be older than ES2022.
  { host: 'ES2020 and @types/node', lib: ['es2020'], types: ['node'], programs: ['node-consumer.ts'] },
];

/**
 * Passes bytes that the packages return to functions of the host. From TypeScript 5.7 on, these do not accept bytes whose buffer may be a
 * SharedArrayBuffer.
 */
const RETURNED_BYTES = `
import { Database, DatabaseReader, encodeVersionEdit, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { storedEntries } from '@bloom/leveldb/inspect';
import { BloomFilterPolicy, buildFilter } from '@bloom/policy';
import { FilterBlockBuilder } from '@bloom/filter-block';
import { MemorySink, MemorySource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { BlobSource } from '@bloom/sstable/blob';
import { DatabaseTable, encodeInternalKey } from '@bloom/sstable/database';
import { HttpSource } from '@bloom/sstable/http';
import { salvagedEntries } from '@bloom/sstable/inspect';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';

declare const socket: WebSocket;

export async function main(key: Uint8Array): Promise<void> {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink);
  builder.add(key, key);
  const source = new MemorySource(sink.toBytes());
  const all = [sink.toBytes(), builder.lastKey, buildFilter(new BloomFilterPolicy(10), [key]), new FilterBlockBuilder(new BloomFilterPolicy(10)).finish()];
  all.push(encodeInternalKey({ userKey: key, sequence: 1n, type: 1 }), new WriteBatch().put(key, key).encode(1n), encodeVersionEdit({}));
  all.push(...new WritableMemoryFolder().files().values());
  all.push(await new BlobSource(new Blob([])).read(0, 0), await (await HttpSource.open('')).read(0, 0));
  const file = await FileSource.open('');
  all.push(await file.read(0, 0), file.readSync(0, 0), SyncFileSource.open('').read(0, 0));

  const table = await Table.open(source);
  const direct = SyncTable.open(source);
  const database = await Database.open(new WritableMemoryFolder());
  const reader = await DatabaseReader.open(new MemoryFolder({}));
  const directReader = SyncDatabaseReader.open(new MemoryFolder({}));
  for (const found of [await table.get(key), direct.get(key), await database.get(key), database.getSync(key), await reader.get(key), directReader.get(key)]) {
    if (found !== undefined) all.push(found);
  }
  for (const found of [...(await table.getMany([key])), ...direct.getMany([key]), ...(await database.getMany([key])), ...database.getManySync([key])]) {
    if (found !== undefined) all.push(found);
  }
  for await (const entry of table) all.push(...entry);
  for await (const entry of table.entries()) all.push(...entry);
  for await (const bytes of table.keys()) all.push(bytes);
  for await (const bytes of table.values()) all.push(bytes);
  for (const entry of direct) all.push(...entry);
  for (const bytes of [...direct.keys(), ...direct.values()]) all.push(bytes);
  for await (const entry of database) all.push(...entry);
  for await (const entry of reader.entries()) all.push(...entry);
  for await (const bytes of reader.keys()) all.push(bytes);
  for await (const bytes of database.values()) all.push(bytes);
  for (const entry of directReader) all.push(...entry);
  for (const { key: stored, value } of await reader.versions(key)) all.push(stored, value);
  for await (const { key: stored, value } of storedEntries(new MemoryFolder({}))) all.push(stored, value);
  for await (const { key: stored, value } of await DatabaseTable.open(source)) all.push(stored, value);
  for await (const entry of salvagedEntries(source)) all.push(...entry);
  all.push(...((await table.find(key, () => true)) ?? []));

  for (const bytes of all) {
    new Blob([bytes]);
    new Response(bytes);
    await crypto.subtle.digest('SHA-256', bytes);
    socket.send(bytes);
  }
}
`;

/**
 * @param {readonly Packed[]} packages
 * @param {string} folder an empty folder
 * @returns {Promise<string[]>} the problems
 */
export async function checkConsumerTypes(packages, folder) {
  for (const { manifest, tarball } of packages) {
    const installed = join(folder, 'node_modules', manifest.name);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components', '1']);
  }
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'abstract-level']) symlinkSync(dirname(require.resolve(`${name}/package.json`)), join(folder, 'node_modules', name));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const entryPoints = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports)
      .filter((path) => path !== './package.json')
      .map((path) => manifest.name + path.slice(1)),
  );
  /** @param {readonly string[]} imported */
  const programOf = (imported) => {
    const imports = imported.map((entryPoint, i) => `import * as entryPoint${i} from '${entryPoint}';\n`);
    return `${imports.join('')}export const all: unknown[] = [${imported.map((_, i) => `entryPoint${i}`).join(', ')}];\n`;
  };
  for (const extension of ['ts', 'cts']) {
    writeFileSync(join(folder, `consumer.${extension}`), programOf(entryPoints.filter((entryPoint) => !NEEDS_NODE_TYPES.has(entryPoint))));
    writeFileSync(join(folder, `node-consumer.${extension}`), programOf([...NEEDS_NODE_TYPES]));
  }
  writeFileSync(join(folder, 'returned-bytes.ts'), RETURNED_BYTES);

  const settings = compilers.flatMap(({ compiler, isFast, hostCount }, shift) => {
    const manifestPath = require.resolve(`${compiler}/package.json`);
    /** @type {unknown} */
    const compilerManifest = JSON.parse(readFileSync(manifestPath, 'utf8'));
    const { version } = /** @type {{ version: string }} */ (compilerManifest);
    const pairs = modules.flatMap((options, i) => hosts.slice(0, hostCount).filter((_, j) => isFast || (i + j + shift) % modules.length === 0).map((host) => ({ options, ...host })));
    return pairs.map((pair) => ({ tsc: join(dirname(manifestPath), 'bin/tsc'), version, ...pair }));
  });
  const problems = await sideBySide([...settings.entries()], async ([i, { tsc, version, options, host, lib, types, programs }]) => {
    const config = join(folder, `tsconfig-${i}.json`);
    const compilerOptions = { ...options, lib, types, target: lib[0], strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const inCommonJs = programs.filter((program) => program.endsWith('consumer.ts')).map((program) => program.replace(/ts$/, 'cts'));
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [...programs, ...inCommonJs] }));
    const { status, output } = await outcomeOf(process.execPath, [tsc, '-p', config]);
    return status === 0 ? [] : [`TypeScript ${version}, ${options.moduleResolution}, ${host}:\n${output}`];
  });
  return problems.flat();
}
