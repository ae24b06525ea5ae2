// What a store on R2 makes of a list that is cut: what is missing in it would be taken for garbage.
import { type R2BucketLike, R2Store } from '@bloom/bulk/r2';
import { expect, test } from 'vitest';
import { collected } from './model.js';

test('a list that ends before its end is refused', async () => {
  const object = { key: 'words/123456.ldb', size: 1, etag: '1', httpEtag: '"1"', uploaded: new Date() };
  const bucketOf = (cursors: (string | undefined)[]): R2BucketLike => {
    let page = 0;
    const list = async () => {
      const cursor = cursors[page++];
      return { objects: [object], truncated: page <= cursors.length, ...(cursor !== undefined && { cursor }) };
    };
    return { list, head: async () => null, get: async () => null, put: async () => null, delete: async () => undefined };
  };
  expect(await collected(new R2Store(bucketOf(['a', 'b']), 'words/').list())).toHaveLength(3);
  for (const cursors of [[undefined], ['a', 'a', 'a']]) {
    await expect(collected(new R2Store(bucketOf(cursors), 'words/').list())).rejects.toMatchObject({ name: 'BulkError', code: 'BLOOM_STORE_FAILED' });
  }
});
