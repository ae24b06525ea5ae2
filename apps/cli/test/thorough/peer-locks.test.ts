import process from 'node:process';
import { peers } from '@bloom/peers';
import { describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

// Other programs hold the folder that `bloom` is to change: one that locks by flock, and one that locks by fcntl. The locks of all others are
// tested with the library.
const NAMES = ['goleveldb 2022-07-21', 'classic-level 3'];
const scratch = new Scratch();
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

for (const peer of peers().filter(({ name }) => NAMES.includes(name))) {
  const reason = await peer.unavailableReason();
  if (reason !== undefined) {
    test.skip(`bloom changes no folder that ${peer.name} has open: ${reason}`, () => {});
    continue;
  }

  describe(`a folder that ${peer.name} has open`, () => {
    test('is not changed by put, delete, load, compact, repair and destroy, which name the process', async () => {
      const name = peer.name.replaceAll(' ', '-');
      await peer.with(async (running) => {
        await running.open(scratch.at(name));
        await running.apply([[utf8('a'), utf8('1')]]);
        for (const args of [['put', name, 'b', '2'], ['delete', name, 'a'], ['load', name, '-'], ['compact', name], ['repair', name], ['destroy', name, '--yes']]) {
          const { code, stderr } = await bloom(args, scratch.path, 'c\t3\n');
          expect({ args, code }, stderr).toEqual({ args, code: 2 });
          expect(stderr).toContain(name);
          if (process.platform === 'linux') expect(stderr).toContain(String(running.pid));
        }
        expect((await running.dump()).map(([key]) => Buffer.from(key).toString())).toEqual(['a']);
        await running.close();
      });
      expect((await bloom(['put', name, 'b', '2'], scratch.path)).code).toBe(0);
    });
  });
}
