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
