import { fromHex, vectors } from '@bloom/fixtures';
import Module from 'node:module';
import { expect, test, vi } from 'vitest';
import { crc32c as crc32cInJavaScript } from '../src/crc32c.default.js';
import { crc32c as crc32cOfNode } from '../src/crc32c.node.js';
import { maskCrc, unmaskCrc } from '../src/masked-crc.js';

const implementations = { 'in JavaScript': crc32cInJavaScript, 'in Node': crc32cOfNode };

for (const [name, crc32c] of Object.entries(implementations)) {
  // Measured from LevelDB.
  test.each(vectors().crcs)(`the checksum ${name} of $data is LevelDB's`, ({ data, crc32c: crc, masked }) => {
    expect(crc32c(data)).toBe(crc);
    if (masked === undefined) return;
    expect(maskCrc(crc32c(data))).toBe(masked);
    expect(unmaskCrc(masked)).toBe(crc);
  });

  // RFC 3720, section B.4; also in LevelDB, util/crc32c_test.cc.
  test(`the checksum ${name} gives the results in the iSCSI standard`, () => {
    const ascending = Uint8Array.from({ length: 32 }, (_, i) => i);
    const read = fromHex(
      '01c00000 00000000 00000000 00000000 14000000 00000400 00000014 00000018 28000000 00000000 02000000 00000000',
    );
    const results = [new Uint8Array(32), new Uint8Array(32).fill(0xff), ascending, ascending.slice().reverse(), read];
    expect(results.map((bytes) => crc32c(bytes).toString(16))).toEqual([
      '8a9136aa',
      '62a8ab43',
      '46dd794e',
      '113fdb5c',
      'd9963a56',
    ]);
  });

  test(`the checksum ${name} of a view covers only its own bytes`, () => {
    expect(crc32c(new TextEncoder().encode('..123456789..').subarray(2, 11))).toBe(0xe3069283);
  });
}

test('on a platform without the native function, Node takes the one in JavaScript', async () => {
  const module = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
  const { _load: load } = module;
  const loaded: string[] = [];
  module._load = (request, ...rest) => {
    loaded.push(request);
    if (request === '@node-rs/crc32') throw Object.assign(new Error('Cannot find module'), { code: 'MODULE_NOT_FOUND' });
    return load(request, ...rest);
  };
  try {
    vi.resetModules();
    const { crc32c } = await import('../src/crc32c.node.js');
    expect(crc32c(new TextEncoder().encode('123456789'))).toBe(0xe3069283);
    expect(crc32c(new TextEncoder().encode('6789'), crc32c(new TextEncoder().encode('12345')))).toBe(0xe3069283);
    expect(loaded).toContain('@node-rs/crc32');
  } finally {
    module._load = load;
  }
});
