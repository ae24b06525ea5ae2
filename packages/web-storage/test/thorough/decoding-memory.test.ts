// How much memory decoding takes at most. The tests have a process of their own, because they measure the peak of its memory.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { seeded } from '@bloom/bytes/internal';
import { dataPath } from '@bloom/fixtures';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { randomClone } from '@bloom/fixtures/random-clone';
import { storedEntries } from '@bloom/leveldb/inspect';
import { NodeFolder } from '@bloom/leveldb/node';
import { decodeValue, taggedJson, WebStorageError } from '@bloom/web-storage';
import { expect, test } from 'vitest';

/** `npx pnpm@10 --filter @bloom/long-tests web-storage` tries a million. */
const damages = Number(process.env.BLOOM_VALUE_DAMAGES ?? 2000);

// The tests with the smallest limits come first, because memory that one test has used is free for the next one, and hides what that one uses.
test('decodeValue reads a BigInt of 8 MB in a small multiple of the memory of its hexadecimal digits', () => {
  const length = 8_000_000;
  const before = peakMemory();
  // Twice the length as a varint, then the digits.
  const { value } = decodeValue(Buffer.concat([Buffer.from('ff105a80c8d007', 'hex'), new Uint8Array(length).fill(0xa5)]));
  expect(BigInt.asUintN(16, value as bigint)).toBe(0xa5a5n);
  expect((value as bigint) >> BigInt((length - 2) * 8)).toBe(0xa5a5n);
  // Digits that were joined one by one took 500 MiB.
  expect(peakMemory() - before).toBeLessThan(150 * 2 ** 20);
});

test('taggedJson writes the units of a long string with a lone surrogate in a small multiple of the memory of its digits', () => {
  const text = `\ud800${'a'.repeat(10e6)}`;
  const before = peakMemory();
  const { utf16 } = taggedJson(text) as { utf16: string };
  expect([utf16.length, utf16.slice(0, 8), utf16.slice(-4)]).toEqual([40_000_004, 'd8000061', '0061']);
  // An array of the digits of each unit took 700 MiB.
  expect(peakMemory() - before).toBeLessThan(250 * 2 ** 20);
});

test(`decodeValue gives a value or a WebStorageError for ${damages} damaged values of Chromium 64 to 156, in bounded memory`, async () => {
  const folders = [dataPath('web-storage'), ...readdirSync(dataPath('web-storage-years')).map((name) => dataPath(`web-storage-years/${name}`))];
  const sound: Uint8Array[] = [];
  for (const folder of folders) {
    for await (const { kind, key, value } of storedEntries(new NodeFolder(join(folder, 'page.indexeddb.leveldb')))) {
      // Of a record, behind the version of it: the envelope of Blink. Values in blobs of their own are left out.
      if (kind === 'value' && key[0] === 0 && key[3] === 1 && value[1] === 0xff && value[2] !== 0x11) sound.push(value.slice(1));
    }
  }
  expect(sound.length).toBeGreaterThan(300);
  const random = seeded(4);
  const before = peakMemory();
  let refused = 0;
  for (let i = 0; i < damages; i++) {
    const damaged = random.pick(sound).slice();
    const times = 1 + random.below(4);
    // Mostly behind the envelope.
    for (let j = 0; j < times; j++) damaged[Math.min(damaged.length - 1, random.below(8) === 0 ? random.below(4) : 4 + random.below(damaged.length))] = random.below(256);
    try {
      decodeValue(damaged.subarray(0, damaged.length - random.below(2) * random.below(damaged.length)));
    } catch (error) {
      if (!(error instanceof WebStorageError)) throw new Error(`${Buffer.from(damaged).toString('hex')}: ${String(error)}`, { cause: error });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(damages / 4);
  expect(peakMemory() - before).toBeLessThan(500e6);
});

test(`decodeValue gives a value or a WebStorageError for ${damages} damaged values, in bounded memory`, () => {
  const random = seeded(2);
  const sound = Array.from({ length: 1000 }, () => new Uint8Array(serialize(randomClone(random))));
  const before = peakMemory();
  for (let i = 0; i < damages; i++) {
    const damaged = random.pick(sound).slice();
    const times = 1 + random.below(4);
    for (let j = 0; j < times; j++) damaged[2 + random.below(damaged.length - 2)] = random.below(256);
    damaged[1] = 9 + random.below(8);
    try {
      decodeValue(damaged.subarray(0, damaged.length - random.below(2) * random.below(damaged.length)));
    } catch (error) {
      if (!(error instanceof WebStorageError)) throw new Error(`${Buffer.from(damaged).toString('hex')}: ${String(error)}`, { cause: error });
    }
  }
  expect(peakMemory() - before).toBeLessThan(500e6);
});
