import { bytewiseComparator } from '@bloom/sstable';
import { InputError } from './entry.js';
import type { Inspect } from './entry-stream.js';
import { keyText } from './key-text.js';

/** An inspection that throws unless keys ascend. The error says how to build such an input. */
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
            ? `key ${keyText(key)} is a duplicate ${last}; --sort keeps the last value of each key`
            : `key ${keyText(key)} comes before ${keyText(lastKey)} ${last}; --sort accepts keys in any order`,
        );
      }
    }
    lastKey = key;
    lastPosition = position;
  };
}
