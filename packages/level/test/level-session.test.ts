import { expect, test } from 'vitest';
import { webFormats } from '../src/web-formats.js';
import type { Answer, Request } from '../src/worker/level-messages.js';
import { LevelSession } from '../src/worker/level-session.js';
import { opfsPlace } from '../src/worker/opfs-place.js';
import { SharedDatabase } from '../src/worker/shared-database.js';

test('a worker that could not open the database gives the reason in its later answers', async () => {
  const all: Answer[] = [];
  // There is no origin private file system here.
  const session = new LevelSession(new SharedDatabase(opfsPlace('words'), webFormats, {}), (answers) => void all.push(...answers));
  const requests: Request[] = [
    [1, 'open', {}],
    [2, 'get', 'a', 'utf8', undefined],
  ];
  session.handle(requests);
  await expect.poll(() => all.length).toBe(2);
  session.handle([[3, 'put', 'a', 'b', false]]);
  await expect.poll(() => all.length).toBe(3);
  const [opening, ...later] = all.sort(([a], [b]) => a - b);
  expect(opening).toMatchObject([1, 1, { message: expect.any(String) as unknown }]);
  const cause = opening![2];
  for (const answer of later) expect(answer[2]).toMatchObject({ name: 'LevelError', code: 'LEVEL_DATABASE_NOT_OPEN', cause });
});
