// The script of a page that puts an entry into a level. The page's `findings` are a promise.
import { BloomLevel } from '@bloom/level';

async function found(): Promise<string | undefined> {
  const level = new BloomLevel('words');
  await level.put('hello', 'world');
  const value = await level.get('hello');
  await level.close();
  return value;
}

Object.assign(globalThis, { findings: found() });
