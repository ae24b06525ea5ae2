import type { LabelledRange } from '@bloom/bytes';
import { FragmentReader, LOG_BLOCK_LENGTH, TYPE_NAMES } from './log-file.js';

/** What every byte of a log is: each once, in order. A fragment that is damaged, or cut off, is one range. */
export function logLayout(bytes: Uint8Array): LabelledRange[] {
  const ranges: LabelledRange[] = [];
  const fragment = new FragmentReader();
  let number = 0;
  for (let blockStart = 0; blockStart < bytes.length; blockStart += LOG_BLOCK_LENGTH) {
    const blockEnd = Math.min(bytes.length, blockStart + LOG_BLOCK_LENGTH);
    const isCut = blockEnd - blockStart < LOG_BLOCK_LENGTH;
    for (let position = blockStart; position < blockEnd; position = fragment.end) {
      const state = fragment.read(bytes, position, blockEnd);
      if (state !== 'fragment') {
        const label = {
          trailer: isCut ? 'cut header' : 'trailer',
          'bad length': isCut ? 'cut payload' : 'rest of the block: bad record length',
          zeros: 'zeros, allocated ahead',
          'bad checksum': 'rest of the block: checksum mismatch',
        }[state];
        ranges.push({ offset: position, byteLength: blockEnd - position, label });
        break;
      }
      const { type, start, end } = fragment;
      const name = `fragment ${number++}`;
      ranges.push(
        { offset: position, byteLength: 4, label: `${name}: masked checksum` },
        { offset: position + 4, byteLength: 2, label: `${name}: length`, value: String(end - start) },
        { offset: position + 6, byteLength: 1, label: `${name}: type`, value: TYPE_NAMES[type] ?? `unknown: ${type}` },
      );
      if (end > start) ranges.push({ offset: start, byteLength: end - start, label: `${name}: payload` });
    }
  }
  return ranges;
}
