import { quotedName } from '@bloom/bytes/internal';
import { ComparatorError } from '@bloom/sstable';
import { Failure } from '../failure.js';

/**
 * A plug-in whose errors name its module and the function that failed.
 *
 * The methods run on the plug-in itself, because they may use private fields. Two errors of a codec's `decompress` are passed on, because they
 * have a meaning: a RangeError says that the contents exceed the limit, and the code `BLOOM_UNSUPPORTED_CODEC` that they are of another format.
 *
 * @param given the module as named on the command line.
 */
export function guarded<T extends { readonly name: string }>(given: string, kind: string, plugin: T): T {
  const guard: Record<string, unknown> = {};
  for (const name of membersOf(plugin)) {
    const value = (plugin as Readonly<Record<string, unknown>>)[name];
    if (typeof value !== 'function') {
      Object.defineProperty(guard, name, { enumerable: true, get: () => (plugin as Readonly<Record<string, unknown>>)[name] });
      continue;
    }
    guard[name] = (...args: unknown[]): unknown => {
      try {
        return Reflect.apply(value as (...args: unknown[]) => unknown, plugin, args);
      } catch (error) {
        if (error instanceof ComparatorError) throw new Failure(`${given}: ${error.message}`, { cause: error });
        if (name === 'decompress' && error instanceof Error && (error as NodeJS.ErrnoException).code === 'BLOOM_UNSUPPORTED_CODEC') throw error;
        // A checked comparator has a `compareRange`, which calls the module's `compare`.
        const called = name === 'compareRange' ? 'compare' : name;
        const problem = `${given}: ${called} of the ${kind} ${quotedName(plugin.name)} failed: ${textOf(error)}`;
        throw name === 'decompress' && error instanceof RangeError ? new RangeError(problem, { cause: error }) : new Failure(problem, { cause: error });
      }
    };
  }
  return guard as unknown as T;
}

/** The names of an object's members, including those inherited from classes. */
function membersOf(value: object): Set<string> {
  const names = new Set<string>();
  let object: object | null = value;
  while (object !== null && object !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(object)) names.add(name);
    object = Object.getPrototypeOf(object) as object | null;
  }
  names.delete('constructor');
  return names;
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
