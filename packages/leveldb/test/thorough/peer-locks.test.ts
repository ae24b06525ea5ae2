import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { type Peer, PeerError, peers } from '@bloom/peers';
import { afterAll, describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

// Go and Rust lock LOCK with flock; LevelDB, Java, Pebble and RocksDB with fcntl, which does not see flock on Linux.

const root = mkdtempSync(join(tmpdir(), 'bloom-peer-locks-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const open = (path: string): Promise<Database> => Database.open(new WritableNodeFolder(path, { thread: false }));

async function entryCount(peer: Peer, path: string): Promise<number> {
  return peer.with(async (running) => {
    await running.open(path);
    return (await running.dump()).length;
  });
}

for (const peer of peers()) {
  const reason = await peer.unavailableReason();
  if (reason !== undefined) {
    test.skip(`${peer.name} and Database exclude each other: ${reason}`, () => {});
    continue;
  }
  const { format, refusal } = peer.traits;

  describe(peer.name, () => {
    test('is refused while Database is open, and let in when it is closed', async () => {
      const path = mkdtempSync(join(root, 'ours-'));
      const database = await open(path);
      const refused = await rejection(peer.with((running) => running.open(path)));
      expect(refused).toBeInstanceOf(PeerError);
      expect((refused as PeerError).message).toMatch(refusal);
      await database.put(utf8('a'), utf8('1'), { sync: true });
      await database.close();
      expect(await entryCount(peer, path)).toBe(1);
    });

    // Folders of the others are refused for what they are, whether they are locked or not.
    test.runIf(format === 'LevelDB')('keeps Database from opening, destroying and repairing its folder, until it closes or is killed', async () => {
      const path = join(root, `${peer.name} holds`);
      for (const end of ['close', 'kill'] as const) {
        await peer.with(async (running) => {
          await running.open(path);
          await running.apply([[utf8(end), utf8('1')]]);
          const owner = process.platform === 'linux' ? `in another process (${running.pid})` : '';
          for (const attempt of [open, (at: string) => Database.destroy(new WritableNodeFolder(at)), (at: string) => Database.repair(new WritableNodeFolder(at)), open]) {
            expect(await rejection(attempt(path))).toMatchObject({ code: 'BLOOM_LOCKED', message: expect.stringContaining(owner) as string });
          }
          // The refused attempts have neither changed the folder nor ended the peer's lock.
          expect(await rejection(peer.with((other) => other.open(path)))).toBeInstanceOf(PeerError);
          await running.apply([[utf8('more'), utf8('1')]]);
          if (peer.traits.flushes) await running.flush();
          if (end === 'close') await running.close();
        });
        const database = await open(path);
        expect(await database.get(utf8(end))).toEqual(utf8('1'));
        expect(await database.get(utf8('more'))).toEqual(utf8('1'));
        await database.close();
        rmSync(path, { recursive: true });
      }
    });

    test.runIf(format === 'LevelDB')('and Database never have the folder open at the same time when both open it at once', async () => {
      const path = join(root, `${peer.name} races`);
      await (await open(path)).close();
      await peer.with(async (running) => {
        for (let i = 0; i < 30; i++) {
          const [ours, theirs] = await Promise.all([open(path).catch((error: unknown) => error), rejection(running.open(path))]);
          // Each may see that the other has LOCK for a moment, so that both are refused.
          if (ours instanceof Database) {
            await ours.close();
            expect(theirs).toBeInstanceOf(PeerError);
          } else {
            expect(ours).toMatchObject({ code: 'BLOOM_LOCKED' });
            if (theirs === undefined) await running.close();
          }
        }
      });
    });
  });
}
