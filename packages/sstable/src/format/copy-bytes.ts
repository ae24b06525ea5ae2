/** Copies `from[start, end)` to `to` at `position`. For a few bytes a loop is faster than a view and its `set`. */
export function copyBytes(from: Uint8Array, start: number, end: number, to: Uint8Array, position: number): void {
  if (end - start <= 32) for (let i = start; i < end; i++) to[position++] = from[i]!;
  else to.set(start === 0 && end === from.length ? from : from.subarray(start, end), position);
}
