import { HostObject } from './host-object.js';

/** The flags of a RegExp by their bits; 64 was never stored. */
const REGEXP_FLAGS: readonly (readonly [bit: number, flag: string])[] = [
  [1, 'g'],
  [2, 'i'],
  [4, 'm'],
  [8, 'y'],
  [16, 'u'],
  [32, 's'],
  [128, 'd'],
  [256, 'v'],
];
const ALL_REGEXP_FLAGS = REGEXP_FLAGS.reduce((all, [bit]) => all | bit, 0);

/** A RegExp, or a {@link HostObject} if the host does not know its syntax. @returns undefined for unknown flags. */
export function regExpOf(source: string, bits: number): object | undefined {
  if ((bits & ~ALL_REGEXP_FLAGS) !== 0) return undefined;
  const flags = REGEXP_FLAGS.map(([bit, flag]) => ((bits & bit) === 0 ? '' : flag)).join('');
  try {
    return new RegExp(source, flags);
  } catch {
    // Its syntax is newer than this host.
    return new HostObject('RegExp', 'R', { source, flags });
  }
}
