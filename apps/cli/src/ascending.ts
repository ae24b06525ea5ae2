import { bytewiseComparator } from '@bloom/sstable';
import { InputError } from './entry.js';
import type { Inspect } from './entry-stream.js';
import { keyText } from './key-text.js';

/** An inspection that lets only keys pass that are after the one before, and says how to mend what are not. */
export function ascending(): Inspect {
  let lastKey: Uint8Array | undefined;
  let lastPosition = 0;
  return ([key], { unit, position }) => {
    if (lastKey !== undefined) {
      const order = bytewiseComparator.compare(lastKey, key);
      if (order >= 0) {
        const last = `(${unit} ${lastPosition})`;
        throw new InputError(
          `${unit} ${position}`,
          order === 0
            ? `key ${keyText(key)} was there before ${last}; --sort keeps the last of its values`
            : `key ${keyText(key)} comes before ${keyText(lastKey)} ${last}; --sort takes keys in any order`,
        );
      }
    }
    lastKey = key;
    lastPosition = position;
  };
}
