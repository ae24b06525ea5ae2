import { LF } from '@bloom/report';
import { ByteBuffer } from './byte-buffer.js';
import { EXIT } from './failure.js';
import type { DamageOptions } from './folder-argument.js';
import type { KeyFormOptions } from './opened-table.js';
import { drain, flush, note } from './output.js';

/** How many characters to show of a key that is not found. */
const SHOWN_CHARACTERS = 200;

/** What `get` was asked to print. */
export interface GetOptions extends KeyFormOptions, DamageOptions {
  readonly hex?: true;
  readonly allVersions?: true;
  readonly explain?: true;
}

/** Prints what is found for each key, and names the keys that are not found. */
export async function print<T>(
  find: (key: Uint8Array) => T | undefined,
  encode: (found: T, out: ByteBuffer) => void,
  keys: readonly Uint8Array[],
  texts: readonly string[],
): Promise<void> {
  const out = new ByteBuffer();
  try {
    for (const [i, key] of keys.entries()) {
      const found = find(key);
      if (found === undefined) {
        process.exitCode = EXIT.no;
        await flush(out);
        note(`${shownKey(texts[i]!)}: not found`);
        continue;
      }
      encode(found, out);
      await drain(out);
    }
  } finally {
    // Prints what was found before a failure.
    await flush(out);
  }
}

/** A key as it was given; quotes if it is empty. */
function shownKey(text: string): string {
  if (text === '') return '""';
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
}

/** Puts a value on a line of its own. */
export function valueEncoder({ hex }: { readonly hex?: true }): (value: Uint8Array, out: ByteBuffer) => void {
  return (value, out) => {
    if (hex) out.hex(value);
    else out.bytes(value);
    out.byte(LF);
  };
}
