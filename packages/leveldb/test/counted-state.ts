// Batch i of a counting writer puts "count" = i, "slot" + (i mod 200) = i with padding, and "gone" + (i mod 10), and deletes
// "gone" + ((i - 1) mod 10), which the previous batch put. So there is exactly one valid state after each batch.

const SLOTS = 200;
const GONE = 10;

const text = (bytes: Uint8Array): string => new TextDecoder('latin1').decode(bytes);

/** The count in the entries, and the problem if they are not the valid state after that count. */
export function checkCounted(entries: readonly (readonly [Uint8Array, Uint8Array])[]): { readonly count: number; readonly problem: string | undefined } {
  const state = new Map(entries.map(([key, value]) => [text(key), text(value)]));
  const count = Number(state.get('count') ?? 0);
  const problems: string[] = [];
  for (let slot = 0; slot < SLOTS; slot++) {
    const last = count - ((count - slot + SLOTS) % SLOTS);
    const expected = last <= 0 || (slot === 0 && last === 0) ? undefined : String(last);
    const found = state.get(`slot${slot}`)?.split(' ')[0];
    if (found !== expected) problems.push(`slot${slot} is ${found ?? 'absent'} instead of ${expected ?? 'absent'}`);
  }
  for (let i = 0; i < GONE; i++) {
    const expected = count > 0 && i === count % GONE ? String(count) : undefined;
    const found = state.get(`gone${i}`);
    if (found !== expected) problems.push(`gone${i} is ${found ?? 'absent'} instead of ${expected ?? 'absent'}`);
  }
  if (count > 0 && state.size !== Math.min(count, SLOTS) + 2) problems.push(`${state.size} keys`);
  return { count, problem: problems.length === 0 ? undefined : `after ${count}: ${problems.slice(0, 5).join(', ')}` };
}
