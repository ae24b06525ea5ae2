import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ThreadChannel } from '../src/node/thread-channel.js';
import { ThreadGuest } from '../src/node/thread-guest.js';
import type { SharedDatabase } from '../src/worker/shared-database.js';

test('a level that is closed while it tries to open the database says nothing more', async () => {
  const post = vi.spyOn(ThreadChannel.prototype, 'post');
  let posted: number | undefined;
  const database = {
    join: () => {
      guest.fail('the level is closed');
      posted = post.mock.calls.length;
      return Promise.reject(Object.assign(new Error('locked'), { code: 'LEVEL_LOCKED' }));
    },
  };
  const place = { path: 'nowhere', identity: '0:0', options: {}, isThere: () => true, makeDatabase: () => database as unknown as SharedDatabase };
  const guest = new ThreadGuest(place);
  try {
    await expect(guest.call('get', 'a', 'utf8', undefined)).rejects.toMatchObject({ code: 'LEVEL_IO_ERROR' });
    await delay(10);
    // Its channels are closed: posting there would be an unhandled rejection, which ends the thread.
    expect(post.mock.calls.length).toBe(posted);
  } finally {
    post.mockRestore();
  }
});

test('a level that waits for the thread that opens the database says hello once in a second', async () => {
  const post = vi.spyOn(ThreadChannel.prototype, 'post');
  const place = { path: 'nowhere', identity: '0:1', options: {}, isThere: () => true, makeDatabase: () => undefined as never };
  const guest = new ThreadGuest(place);
  try {
    for (let i = 0; i < 10; i++) expect(await guest.find(10)).toBe(undefined);
    expect(post.mock.calls).toEqual([[{ hello: expect.any(String) as string }]]);
    await delay(1000);
    await guest.find(10);
    expect(post.mock.calls.length).toBe(2);
  } finally {
    guest.fail('the test has ended');
    post.mockRestore();
  }
});
