import { peers } from '@bloom/peers';
import { expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const peer = peers().find(({ name }) => name.startsWith('iq80'))!;
const reason = await peer.unavailableReason();

test.skipIf(reason !== undefined)(`bloom says that repair keeps the entries of a folder of ${peer.name}, and it does${reason === undefined ? '' : `: ${reason}`}`, async () => {
  const folder = scratch.at('iq80');
  const entries = await peer.with(async (running) => {
    await running.open(folder);
    const write = async (value: Uint8Array): Promise<void> =>
      running.apply(Array.from({ length: 3000 }, (_, i) => [utf8(`key${(i * 7919) % 1500}`), i % 7 === 0 ? undefined : value]));
    await write(new Uint8Array(200));
    await write(new Uint8Array(200).fill(1));
    const found = await running.dump();
    await running.close();
    return found;
  });
  const refused = await bloom(['scan', 'iq80'], scratch.path);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toMatch(/\.sst: the MANIFEST says .* a repair keeps exactly the folder's entries; bloom repair does this\n$/);
  expect((await bloom(['repair', 'iq80'], scratch.path)).code).toBe(0);
  const { code, stdout } = await bloom(['scan', '--format', 'hex', 'iq80'], scratch.path);
  expect(code).toBe(0);
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  expect(stdout.toString()).toBe(entries.map(([key, value]) => `${hex(key)}\t${hex(value)}\n`).join(''));
});
