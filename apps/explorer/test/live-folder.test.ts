import { folderLaws } from '@bloom/leveldb/contract';
import { MemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { LiveFolder } from '../src/live/live-folder.js';
import { Pace } from '../src/live/pace.js';

const newFolder = (): LiveFolder => new LiveFolder([], new Pace('at-once', () => undefined));

describe('the folder of the live database keeps the law', () => {
  for (const law of folderLaws(newFolder, { again: (folder) => folder, cutPower: (folder) => new MemoryFolder(folder.afterPowerFailure()) })) test(law.name, law.run);
});

test('a power failure leaves nothing that was not synced, and a crash of the program leaves everything', async () => {
  const folder = newFolder();
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  const kept = await folder.create('kept');
  await kept.append(utf8('synced'));
  await kept.sync();
  await folder.syncFolder();
  await kept.append(utf8(', and not'));
  const nameless = await folder.create('nameless');
  await nameless.append(utf8('x'));
  await nameless.sync();
  await folder.delete('kept');
  expect(folder.afterPowerFailure()).toEqual(new Map([['kept', utf8('synced')]]));
  expect(folder.afterCrash()).toEqual(new Map([['nameless', utf8('x')]]));
});

describe('a pace', () => {
  test('lets steps pass one at a time, in their order, and refuses them when it has ended', async () => {
    let changes = 0;
    const pace = new Pace('step', () => changes++);
    const passed: string[] = [];
    const steps = ['a', 'b', 'c'].map((what) => pace.pass(what)!.then(() => passed.push(what)));
    expect(pace.waiting).toEqual(['a', 'b', 'c']);
    pace.step();
    await steps[0];
    expect(passed).toEqual(['a']);
    expect(changes).toBe(4);
    pace.end(new Error('over'));
    await expect(steps[1]).rejects.toThrow('over');
    await expect(steps[2]).rejects.toThrow('over');
    await expect(pace.pass('d')).rejects.toThrow('over');
  });

  test('at once holds nothing up, and lets what waited go first', async () => {
    const pace = new Pace('step', () => undefined);
    const waited = pace.pass('waited');
    pace.set('at-once');
    await waited;
    expect(pace.pass('next')).toBeUndefined();
  });
});
