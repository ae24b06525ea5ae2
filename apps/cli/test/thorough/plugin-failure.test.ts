import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

// Modules that throw when their environment says so.
const scratch = new Scratch();
scratch.write(
  'order.mjs',
  `let calls = 0;
  export default {
    name: 'test.Order',
    compare(a, b) {
      if (process.env.COMPARE !== undefined && ++calls > Number(process.env.COMPARE)) throw new TypeError('no order');
      return Buffer.compare(a, b);
    },
    findShortestSeparator: (start) => start,
    findShortSuccessor: (key) => key,
  };`,
);
scratch.write(
  'policy.mjs',
  `export class Everything {
    #answer = true;
    name = 'test.Everything';
    createFilter(keys, dst) {
      if (process.env.CREATE !== undefined) throw new RangeError('no filter');
      dst.extend(1)[0] = 1;
    }
    keyMayMatch() {
      if (process.env.MATCH !== undefined) throw new Error('no answer');
      return this.#answer;
    }
  }`,
);
scratch.write(
  'codec.mjs',
  `import { deflateRawSync, inflateRawSync } from 'node:zlib';
  export default {
    type: 77,
    name: 'test.deflate',
    compress(bytes) {
      if (process.env.COMPRESS !== undefined) throw new RangeError('no bytes');
      return deflateRawSync(bytes);
    },
    decompress(bytes, maxOutputLength) {
      if (process.env.DECOMPRESS !== undefined) throw new Error('no contents');
      return inflateRawSync(bytes, { maxOutputLength });
    },
  };`,
);
const MODULES = '--comparator ./order.mjs --policy ./policy.mjs --codec ./codec.mjs';
const WRITING = `${MODULES} --compression test.deflate`;

beforeAll(async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => `key ${String(i).padStart(6, '0')}\t${'value '.repeat(12)}${i}\n`);
  scratch.write('in.tsv', lines.join(''));
  // More than a memtable holds, so that the other thread has work.
  scratch.write('large.tsv', lines.map((line) => line.replace(/\n/, `${'x'.repeat(6000)}\n`)).join(''));
  await bloomPrints(['build', 'in.tsv', '-q', '-o', 'table.ldb', ...WRITING.split(' ')], scratch.path);
  await bloomPrints(['load', 'db', 'in.tsv', '-q', '--compact', ...WRITING.split(' ')], scratch.path);
  await bloomPrints(['build', 'in.tsv', '-q', '-o', 'out.ldb', '--policy', './policy.mjs'], scratch.path);
});

const COMPARE = './order.mjs: compare of the comparator "test.Order" failed: TypeError: no order';
const CREATE = './policy.mjs: createFilter of the filter policy "test.Everything" failed: RangeError: no filter';
const MATCH = './policy.mjs: keyMayMatch of the filter policy "test.Everything" failed: Error: no answer';
const COMPRESS = './codec.mjs: compress of the codec "test.deflate" failed: RangeError: no bytes';
const DECOMPRESS = './codec.mjs: decompress of the codec "test.deflate" failed: Error: no contents';

describe('an error of a module names it and what it was doing, and leaves the output as it was:', () => {
  test.each([
    [`COMPARE=1000 bloom build in.tsv -o out.ldb ${WRITING}`, COMPARE],
    [`COMPARE=1000 bloom build in.tsv --sort -o out.ldb ${WRITING}`, COMPARE],
    [`CREATE=1 bloom build in.tsv -o out.ldb ${WRITING}`, CREATE],
    [`CREATE=1 bloom build in.tsv -o out.ldb --max-table-size 64K ${WRITING}`, CREATE],
    [`COMPRESS=1 bloom build in.tsv -o out.ldb ${WRITING}`, COMPRESS],
    // On the thread that merges.
    [`COMPARE=1000 bloom merge table.ldb table.ldb -o out.ldb ${WRITING}`, COMPARE],
    [`DECOMPRESS=1 bloom merge table.ldb -o out.ldb ${WRITING}`, `table.ldb: index block at offset `],
    [`CREATE=1 bloom convert table.ldb -o out.ldb ${WRITING}`, CREATE],
    [`COMPARE=1000 bloom convert db -o out.ldb ${WRITING}`, COMPARE],
    [`COMPARE=1000 bloom salvage table.ldb -o out.ldb ${MODULES}`, COMPARE],
    [`COMPARE=1 bloom get table.ldb a ${MODULES}`, COMPARE],
    [`MATCH=1 bloom get table.ldb 'key 000042' ${MODULES}`, MATCH],
    [`MATCH=1 bloom get db 'key 000042' ${MODULES}`, MATCH],
    [`MATCH=1 bloom verify table.ldb ${MODULES}`, MATCH],
    [`MATCH=1 bloom stat table.ldb ${MODULES}`, MATCH],
    [`CREATE=1 bloom filter test table.ldb ${MODULES}`, CREATE],
    [`COMPARE=1000 bloom diff table.ldb db ${MODULES}`, COMPARE],
    [`COMPARE=1 bloom compact db ${WRITING}`, COMPARE],
    [`COMPARE=3 bloom delete db a ${WRITING}`, COMPARE],
    // First on the thread that writes tables.
    [`CREATE=1 bloom load new large.tsv ${WRITING}`, `new: ${CREATE}: earlier writes can be read`],
    [`COMPRESS=1 bloom load new large.tsv ${WRITING}`, `new: ${COMPRESS}: earlier writes can be read`],
  ])('%s', async (line, problem) => {
    const before = readdirSync(scratch.path).filter((name) => name !== 'new');
    const output = scratch.read('out.ldb');
    const { code, stderr } = await shell(`${line}; code=$?; rm -rf new; exit $code`, scratch.path);
    expect({ code, stderr: stderr.slice(0, `bloom: ${problem}`.length) }).toEqual({ code: 2, stderr: `bloom: ${problem}` });
    if (line.startsWith('DECOMPRESS')) expect(stderr).toContain(DECOMPRESS);
    expect(stderr.match(/\n/g)).toHaveLength(1);
    expect(readdirSync(scratch.path)).toEqual(before);
    expect(scratch.read('out.ldb').equals(output)).toBe(true);
  });

  test('what was loaded before the error can be read', async () => {
    const { code } = await shell(`CREATE=1 bloom load half large.tsv --batch-size 1K ${WRITING}`, scratch.path);
    expect(code).toBe(2);
    const entries = Number(await bloomPrints(['count', 'half', ...MODULES.split(' ')], scratch.path));
    expect(entries).toBeGreaterThan(1000);
    expect(await bloom(['verify', 'half', ...MODULES.split(' ')], scratch.path)).toMatchObject({ code: 0 });
  });
});
