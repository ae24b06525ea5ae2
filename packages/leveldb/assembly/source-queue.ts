// AssemblyScript. The sources that are on an entry, in the order of their entries. Of two equal entries, that of the lower source comes first.
// In a walk backward, the whole order is reversed.
import { isBefore } from './merge-source';

/** Their numbers: uint32. */
const QUEUE_AT: usize = 0x3800;

export let queued: u32 = 0;
let isBackward: bool = false;

export function clearQueue(backward: bool): void {
  queued = 0;
  isBackward = backward;
}

/** The first source. */
// @ts-ignore: decorator
@inline
export function firstSource(): u32 {
  return load<u32>(QUEUE_AT);
}

/** Adds a source that is on an entry. */
export function enqueue(source: u32): void {
  let at = QUEUE_AT + (usize(queued) << 2);
  queued++;
  for (; at > QUEUE_AT && isBefore(source, load<u32>(at - 4)) != isBackward; at -= 4) store<u32>(at, load<u32>(at - 4));
  store<u32>(at, source);
}

/** Removes the first source. */
export function dequeue(): void {
  queued--;
  memory.copy(QUEUE_AT, QUEUE_AT + 4, usize(queued) << 2);
}

/** Puts the first source, which has moved, where it belongs. */
// @ts-ignore: decorator
@inline
export function sink(): void {
  const source = load<u32>(QUEUE_AT);
  const last = QUEUE_AT + (usize(queued - 1) << 2);
  let at = QUEUE_AT;
  for (; at < last && isBefore(source, load<u32>(at, 4)) == isBackward; at += 4) store<u32>(at, load<u32>(at, 4));
  store<u32>(at, source);
}
