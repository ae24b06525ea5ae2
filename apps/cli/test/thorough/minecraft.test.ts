import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { realDatabases } from '@bloom/fixtures';
import { MemorySource } from '@bloom/sstable';
import { tableLayout } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const world = realDatabases().find(({ name }) => name.includes('mctestdb'))!;
const lines = (count: number): string => Array.from({ length: count }, (_, i) => `~new${i}\t${'value '.repeat(20)}${i}\n`).join('');

function copyOfWorld(name: string): string {
  cpSync(world.path, scratch.at(name), { recursive: true });
  return name;
}

/** The compression types of all blocks of all tables of a folder. */
async function typesIn(name: string): Promise<number[]> {
  const types = new Set<number>();
  for (const file of readdirSync(scratch.at(name)).filter((one) => one.endsWith('.ldb'))) {
    for await (const { label, value } of tableLayout(new MemorySource(readFileSync(join(scratch.at(name), file))), { codecs: allCodecs, detail: 'fields' })) {
      if (label.endsWith('compression type')) types.add(Number.parseInt(String(value)));
    }
  }
  return [...types].sort((a, b) => a - b);
}

async function succeeds(args: readonly string[], input?: string): Promise<string> {
  const { code, stderr } = await bloom(args, scratch.path, input);
  expect({ args, code }).toEqual({ args, code: 0 });
  return stderr;
}

describe("a world of Minecraft's", () => {
  test('is written by every command without any option, and every block stays one that Minecraft reads', async () => {
    const name = copyOfWorld('world');
    const scanned = async (): Promise<string[]> => (await bloomPrints(['scan', name, '--hex'], scratch.path)).trimEnd().split('\n');
    const before = await scanned();
    expect(before).toHaveLength(world.entries!);
    const steps: [args: string[], input?: string][] = [
      [['put', name, '~new', 'value']],
      [['compact', name]],
      [['load', name, '-', '--compact', '-q'], lines(20_000)],
      [['delete', name, '--prefix', '~new']],
      [['load', name, '-', '-q'], lines(3)],
      [['repair', name]],
      [['compact', name]],
      [['delete', name, '--prefix', '~new']],
      [['compact', name]],
    ];
    for (const [args, input] of steps) {
      expect(await succeeds(args, input)).not.toMatch(/codec/i);
      expect({ args, types: await typesIn(name) }).toEqual({ args, types: [0, 4] });
    }
    expect(await scanned()).toEqual(before);
    await succeeds(['destroy', name, '--yes']);
  });

  test('that has only a log gets raw deflate, recognized by the level.dat next to its folder', async () => {
    for (const [folder, types] of [['some/db', [0, 1]], ['log-world/db', [0, 4]]] as const) {
      await succeeds(['load', scratch.at(folder), '-', '-q'], lines(100));
      if (folder.startsWith('log')) scratch.write('log-world/level.dat', 'a level');
      await succeeds(['put', folder, 'a', 'b']);
      expect({ folder, types: await typesIn(folder) }).toEqual({ folder, types });
      await succeeds(['repair', folder]);
      expect({ folder, types: await typesIn(folder) }).toEqual({ folder, types });
    }
  });

  test('gets the compression that --compression names, with a warning if Minecraft cannot read it', async () => {
    const warning = 'bloom: named: Minecraft cannot read tables that are compressed with snappy: omit --compression to compress as Minecraft does\n';
    copyOfWorld('named');
    expect(await succeeds(['load', 'named', '-', '-q', '--compression', 'zlib'], lines(100))).toBe('');
    expect(await typesIn('named')).toEqual([0, 4]);
    expect(await succeeds(['compact', 'named', '--compression', 'snappy'])).toContain(warning);
    await succeeds(['put', 'named', '~z', 'z']);
    // The tables that are left are Snappy's, and this is no folder of a world.
    expect(await typesIn('named')).toEqual([0, 1]);
    expect(await succeeds(['put', 'named', 'a', 'b', '--compression', 'snappy'])).toBe('');

    copyOfWorld('uncompressed');
    await succeeds(['put', 'uncompressed', 'a', 'b']);
    expect(await succeeds(['compact', 'uncompressed', '--compression', 'none'])).not.toContain('Minecraft');
    expect(await typesIn('uncompressed')).toEqual([0]);
  });
});

test('a database whose codec can only decompress is refused, with a remedy for the command line', async () => {
  scratch.write(
    'codecs.mjs',
    `import { deflateRawSync, inflateRawSync } from 'node:zlib';
    const reader = { type: 77, name: 'own', decompress: (bytes, maxOutputLength) => inflateRawSync(bytes, { maxOutputLength }) };
    export { reader };
    export const writer = { ...reader, compress: (bytes) => deflateRawSync(bytes) };`,
  );
  await succeeds(['load', 'own', '-', '-q', '--compact', '--codec', './codecs.mjs#writer', '--compression', 'own'], lines(100));
  for (const args of [['put', 'own', 'a', 'b'], ['compact', 'own'], ['repair', 'own']]) {
    const missing = await bloom(args, scratch.path);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringMatching(/there is no codec for its compression type 77: name a codec with --codec\n$/) as string });
    const unable = await bloom([...args, '--codec', './codecs.mjs#reader'], scratch.path);
    expect(unable).toMatchObject({ code: 2, stderr: expect.stringMatching(/its tables are compressed with type 77, which the codec own does not write: --compression says how to write\n$/) as string });
  }
  await succeeds(['put', 'own', 'a', 'b', '--codec', './codecs.mjs#writer']);
  await succeeds(['put', 'own', 'a', 'b', '--codec', './codecs.mjs#reader', '--compression', 'none']);
});
