/** JSON as text, of any depth. */
import { isStackOverflow } from '../value/stack-overflow.js';
import type { JsonValue } from './tagged-json.js';
import { tooLong } from './too-long.js';

/**
 * The result of `JSON.stringify`, even for values that are nested too deeply for it.
 *
 * @throws WebStorageError BLOOM_TOO_LARGE for a text that is longer than the host's longest string, about 512 Mi characters in V8.
 */
export function jsonText(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!isStackOverflow(error)) throw tooLong(error);
  }
  try {
    return deepText(value);
  } catch (error) {
    throw tooLong(error);
  }
}

/** The remaining texts and values, the next one last. */
type Pending = { readonly text: string } | { readonly value: JsonValue };

function deepText(root: JsonValue): string {
  const pending: Pending[] = [{ value: root }];
  let text = '';
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) text += next.text;
    else if (typeof next.value !== 'object' || next.value === null) text += JSON.stringify(next.value);
    else {
      const isArray = Array.isArray(next.value);
      text += isArray ? '[' : '{';
      pending.push({ text: isArray ? ']' : '}' });
      const entries = Object.entries(next.value);
      for (let i = entries.length - 1; i >= 0; i--) {
        const [name, value] = entries[i]!;
        pending.push({ value }, { text: `${i === 0 ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}` });
      }
    }
  }
  return text;
}
