import { type FilterPolicy, mustBeFilterPolicy } from '@bloom/policy';
import { type Codec, type Comparator, bytewiseComparator } from '@bloom/sstable';
import { checkedComparator } from '@bloom/sstable/internal';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { Failure } from '../failure.js';
import { guarded } from './guarded-plugin.js';
import { type ImportedModule, importModule, shownModule } from './imported-module.js';
import { shippedPolicies, shippedPolicy } from './shipped-policy.js';

/** Loads a comparator: a module, or the name of one of `bloom`'s. */
export async function loadComparator(given: string): Promise<Comparator> {
  const known = [bytewiseComparator, idbComparator].find(({ name }) => name === given);
  if (known !== undefined) return known;
  const comparator = exportOf(await importModule(given, 'comparator', [bytewiseComparator.name, idbComparator.name]), 'comparator', isComparator, 'name, compare, findShortestSeparator and findShortSuccessor');
  return guarded(shownModule(given), 'comparator', checkedComparator(comparator));
}

/** Loads a policy: a module, or one of `bloom`'s, such as `ribbon` or `blocked:12`. */
export async function loadPolicy(given: string): Promise<FilterPolicy> {
  return (await shippedPolicy(given)) ?? guarded(shownModule(given), 'filter policy', exportOf(await importModule(given, 'policy', Object.keys(shippedPolicies)), 'filter policy', isPolicy, 'name, createFilter and keyMayMatch'));
}

/** Loads codecs: a module that exports one codec, or an array of codecs. */
export async function loadCodecs(given: string): Promise<readonly Codec[]> {
  const found = exportOf(await importModule(given, 'codec'), 'codec', isCodecs, 'type (1 to 255), name and decompress, or an array of such objects');
  return (Array.isArray(found) ? (found as readonly Codec[]) : [found as Codec]).map((codec) => guarded(shownModule(given), 'codec', codec));
}

/**
 * The named export, the default export, or the only one that fits. A class is instantiated.
 *
 * @throws Failure when there is none, or several.
 */
function exportOf<T>({ given, exports, exportName }: ImportedModule, kind: string, fits: (value: unknown) => value is T, members: string): T {
  if (exportName !== undefined) {
    if (!Object.hasOwn(exports, exportName)) throw new Failure(`${given}: the module does not export ${exportName}: it exports ${namesOf(exports)}`);
    const value = instanceOf(given, exports[exportName]);
    if (!fits(value)) throw new Failure(`${given}: is not a ${kind}, which has ${members}`);
    return value;
  }
  const main = exports.default === undefined ? undefined : instanceOf(given, exports.default);
  if (fits(main)) return main;
  // The default export of a CommonJS module is the object with all its exports, which are also named exports.
  const found = Object.entries(exports).filter(([name, value]) => name !== 'default' && mayFit(value, fits));
  const [first, second] = found;
  if (first === undefined) throw new Failure(`${given}: the module exports no ${kind}, which has ${members}: it exports ${namesOf(exports)}`);
  if (second !== undefined) {
    const names = found.map(([name]) => name);
    throw new Failure(`${given}: the module exports more than one ${kind}: choose one, such as ${given}#${names[0]!}, of ${names.join(', ')}`);
  }
  return instanceOf(given, first[1]) as T;
}

/** Whether a value fits, or is a class whose prototype fits. Classes are not instantiated for the test. */
function mayFit(value: unknown, fits: (value: unknown) => boolean): boolean {
  if (typeof value !== 'function') return fits(value);
  const prototype: unknown = value.prototype;
  if (typeof prototype !== 'object' || prototype === null) return false;
  // Fields such as `name` and `type` exist only in instances.
  return fits(Object.assign(Object.create(prototype) as object, { name: 'class', type: 1 }));
}

function instanceOf(given: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  try {
    return new (value as new () => unknown)();
  } catch (error) {
    throw new Failure(`${given}: cannot be constructed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function namesOf(exports: object): string {
  const names = Object.keys(exports);
  return names.length === 0 ? 'nothing' : names.join(', ');
}

function isComparator(value: unknown): value is Comparator {
  return hasName(value) && hasMethods(value, ['compare', 'findShortestSeparator', 'findShortSuccessor']);
}

function isPolicy(value: unknown): value is FilterPolicy {
  if (!hasName(value)) return false;
  try {
    mustBeFilterPolicy('policy', value);
    return true;
  } catch {
    return false;
  }
}

function isCodecs(value: unknown): value is Codec | readonly Codec[] {
  if (Array.isArray(value)) return value.length > 0 && value.every(isCodec);
  return isCodec(value);
}

function isCodec(value: unknown): value is Codec {
  if (!hasName(value) || !hasMethods(value, ['decompress'])) return false;
  const type = 'type' in value ? value.type : undefined;
  return Number.isInteger(type) && (type as number) >= 1 && (type as number) <= 0xff;
}

function hasName(value: unknown): value is { readonly name: string } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string' && value.name !== '';
}

function hasMethods(value: object, names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}
