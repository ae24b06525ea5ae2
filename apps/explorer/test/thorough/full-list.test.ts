import { WriteBatch } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { WHOLE_PROFILE } from '../../src/storage/storage-place.js';
import { noteKey, NOTES, opened, rewrittenNotes, work } from '../stored-profile.js';

test('a list ends where memory would, and says so', async () => {
  const files = await rewrittenNotes(async (database, { value }) => {
    const batch = new WriteBatch();
    for (let i = 200; i < 50_200; i++) batch.put(noteKey(i), value.subarray(0, 3));
    await database.write(batch);
  });
  const profile = opened(Array.from(files, ([name, bytes]) => ({ name: `${NOTES}/${name}`, bytes })));
  const list = profile.list({ ...WHOLE_PROFILE, database: 1, store: 1 });
  expect(await profile.more(work(), list, 10)).toMatchObject({ rowCount: 10, examined: 10, state: 'more' });
  await profile.more(work(), list, 40_000);
  expect(await profile.more(work(), list, 40_000)).toMatchObject({ rowCount: 50_000, state: 'full' });
});
