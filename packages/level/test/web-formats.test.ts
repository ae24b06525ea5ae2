import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import { webFormats } from '../src/web-formats.js';

test('text becomes the bytes that Node makes of it, and text again, whatever its length and characters', () => {
  const random = seeded(1);
  const alphabets = ['aZ0 \0\x7f', 'a\x80é', '€a', '😀a', '\ud800a', '\ufeffb'];
  for (let i = 0; i < 3000; i++) {
    const alphabet = Array.from(alphabets[random.below(alphabets.length)]!);
    const length = random.below(random.below(2) === 0 ? 20 : 300);
    // One character at the end may be unlike the others.
    const text = Array.from({ length }, () => alphabet[random.below(i % 2 === 0 ? 1 : alphabet.length)]!).join('') + (random.below(3) === 0 ? alphabet.at(-1)! : '');
    const bytes = webFormats.bytesOf(text);
    expect(Buffer.from(bytes).equals(Buffer.from(text)), JSON.stringify(text)).toBe(true);
    expect(webFormats.textOf(Uint8Array.of(1, ...bytes, 2), 1, bytes.length + 1)).toBe(Buffer.from(text).toString());
  }
});
