/** Prints a number for each prefix of keys. */
import { count, counted, hexDigits } from '@bloom/report';
import { type Group, type GroupSums, prefixOf } from '../inputs/prefix-groups.js';
import { keyText } from './key-text.js';
import { Lines } from './output.js';

export interface GroupRowOptions {
  /** The name of the number in JSON. */
  readonly member: string;
  readonly hex: boolean;
  readonly json: boolean;
  /** The most groups to print. The others are added up. */
  readonly limit: number | undefined;
}

/** Prints the groups, the largest number first. */
export async function printGroups({ sums }: GroupSums, { member, hex, json, limit = Infinity }: GroupRowOptions): Promise<void> {
  const all = [...sums].sort(([a, first], [b, second]) => second - first || (a < b ? -1 : 1));
  const shown = all.slice(0, limit);
  const others = all.slice(limit);
  const sumOf = (some: readonly (readonly [Group, number])[]): number => some.reduce((sum, [, number]) => sum + number, 0);
  const lines = new Lines();
  if (json) {
    for (const [group, number] of shown) await lines.json({ ...prefixJson(prefixOf(group), hex), [member]: number });
    if (others.length > 0) await lines.json({ others: others.length, [member]: sumOf(others) });
  } else {
    const total = sumOf(all);
    const rows = shown.map(([group, number]): [number, string] => [number, prefixText(prefixOf(group), hex)]);
    if (others.length > 0) rows.push([sumOf(others), counted(others.length, 'other prefix', 'other prefixes')]);
    if (all.length > 1) rows.push([total, 'in all']);
    const figures = rows.map(([number]) => count(number));
    const width = Math.max(0, ...figures.map(({ length }) => length));
    for (const [i, [number, text]] of rows.entries()) {
      const percent = `${(total === 0 ? 0 : (number / total) * 100).toFixed(1)}%`;
      await lines.add(`${figures[i]!.padStart(width)}  ${percent.padStart(6)}  ${text}`);
    }
  }
  await lines.flush();
}

function prefixText(prefix: Uint8Array | undefined, hex: boolean): string {
  if (prefix === undefined) return 'keys without the separator';
  return hex ? hexDigits(prefix) : keyText(prefix, Infinity);
}

/** A prefix in JSON: text, or hexadecimal if it is not UTF-8. */
function prefixJson(prefix: Uint8Array | undefined, hex: boolean): object {
  if (prefix === undefined) return { prefix: null };
  const text = Buffer.from(prefix).toString('utf8');
  return hex || Buffer.compare(Buffer.from(text), prefix) !== 0 ? { prefixHex: hexDigits(prefix) } : { prefix: text };
}
