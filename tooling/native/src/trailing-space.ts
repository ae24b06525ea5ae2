import { type KeyValue, seeded } from '@bloom/fixtures';

/** The key without its trailing 0x20 bytes, as the comparator and its policy see it. */
export function stripTrailingSpaces(key: Uint8Array): Uint8Array {
  let length = key.length;
  while (length > 0 && key[length - 1] === 0x20) length--;
  return key.subarray(0, length);
}

// One key for each case; the other keys make the table long enough for several blocks and filters.
const cases = [
  '   ', // equal to the empty key
  'a',
  'a b ',
  'a  b',
  ' a ',
  'apple  ',
  'apple pie',
  'Apple ',
  'a\t ',
  'a \t',
  'a\u0000 ',
  'a \u0001',
  'a\u001f ',
  'a!',
  'é ',
  'naïve   ',
  'straße',
  'Ωμέγα  ',
  '名前 ',
  'no-break\u00a0',
  'ideographic\u3000 ',
  '🍎 ',
  '🍎  🍏',
  'many' + ' '.repeat(300),
];

const syllables = ['ba', 'ko', 'mi', 'ru', 'ne', 'ta', 'lo', 'si', 'é', 'ø', '木', 'pa '];

/** Entries that are unique and ascending by the trailing-space comparator, and the same in every run. */
export function trailingSpaceEntries(): KeyValue[] {
  const random = seeded(0x20);
  const encoder = new TextEncoder();
  const entries = new Map<string, KeyValue>();
  const add = (key: Uint8Array, value: string): void => {
    const identity = Buffer.from(stripTrailingSpaces(key)).toString('hex');
    if (!entries.has(identity)) entries.set(identity, [key, encoder.encode(value)]);
  };
  for (const text of cases) add(encoder.encode(text), `value of ${JSON.stringify(text.trimEnd())}`);
  add(Uint8Array.of(0xff, 0xff, 0x20), 'not UTF-8');
  while (entries.size < 800) {
    const word = Array.from({ length: 1 + random.below(5) }, () => random.pick(syllables)).join('');
    add(encoder.encode(word + ' '.repeat(random.below(4))), `${entries.size}`.repeat(1 + random.below(8)));
  }
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}
