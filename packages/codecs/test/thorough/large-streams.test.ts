import { sampleContents, seeded } from '@bloom/fixtures';
import { zstdCodec } from '@bloom/codecs';
import { expect, test } from 'vitest';
import { sameBytes } from '../outcome.js';
import { ReferenceZstd } from '../reference-zstd.js';

test('a frame that starts just below or ends just above 512 MiB of a stream is read', async () => {
  const contents = sampleContents(seeded(9), 200_000);
  const frame = (await ReferenceZstd.load(2 ** 20)).compress(contents, 3);
  for (const skipped of [2 ** 29 - 20_000, 2 ** 29 - 8]) {
    const stream = new Uint8Array(8 + skipped + frame.length);
    const view = new DataView(stream.buffer);
    view.setUint32(0, 0x184d2a50, true);
    view.setUint32(4, skipped, true);
    stream.set(frame, 8 + skipped);
    expect(sameBytes(zstdCodec.decompress(stream, 2 ** 20), contents)).toBe(true);
  }
});
