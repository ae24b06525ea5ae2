/** Keys of known programs in words, as the explorer shows them: what `scan --decode-keys` prints instead of their bytes. */
import { minecraftKey } from '@bloom/report';
import { indexedDbKey } from '@bloom/web-storage';
import type { KeyDecoderName } from './key-decoders.js';

/** Returns the text of keys as bytes. A key that the program does not write, or that is text already, is returned unchanged. */
export function keyDecoder(name: KeyDecoderName): (key: Uint8Array) => Uint8Array {
  const wordsOf = name === 'chromium' ? indexedDbKey : minecraftKey;
  return (key) => {
    const words = wordsOf(key);
    return words === undefined ? key : Buffer.from(words, 'utf8');
  };
}
