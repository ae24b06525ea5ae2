import vm from 'node:vm';
import { copiedOptions, mustBeArray, mustBeBoolean, mustBeBytes, mustBeFunction, mustBeIterable, mustBeOptions, mustHaveAtMost, mustNotMisspell, mustBeSignal, mustBeWhole, mustHaveMethods } from '@bloom/bytes/internal';
import { describe, expect, test } from 'vitest';

class Shelf {
  find(): void {}
}

describe('mustBeBytes', () => {
  test.each([
    ['a full array', Uint8Array.of(1, 2)],
    ['an empty array', new Uint8Array(0)],
    ['an empty view of a full buffer', new Uint8Array(new ArrayBuffer(8), 3, 0)],
    ['an empty view at the end of a buffer', new Uint8Array(new ArrayBuffer(8), 8)],
    ['a Buffer', Buffer.from('ab')],
    ['an empty Buffer', Buffer.alloc(0)],
    ['an array over shared memory', new Uint8Array(new SharedArrayBuffer(4))],
    ['an empty array over shared memory', new Uint8Array(new SharedArrayBuffer(0))],
    ['an array of another realm', vm.runInNewContext('Uint8Array.of(97)') as Uint8Array],
    ['an empty array of another realm', vm.runInNewContext('new Uint8Array(0)') as Uint8Array],
  ])('accepts %s', (_, value) => {
    expect(() => mustBeBytes('key', value)).not.toThrow();
  });

  test.each([
    ['string', 'abc'],
    ['null', null],
    ['undefined', undefined],
    ['number', 5],
    ['object', {}],
    ['an Array', [1, 2]],
    ['an ArrayBuffer', new ArrayBuffer(4)],
    ['a DataView', new DataView(new ArrayBuffer(4))],
    ['a Uint16Array', Uint16Array.of(1)],
    ['a Uint8ClampedArray', Uint8ClampedArray.of(1)],
    ['object', { [Symbol.toStringTag]: 'Uint8Array' }],
    ['object', Object.create(null)],
    ['the class Shelf', Shelf],
  ])('rejects %s, and names it', (kind, value) => {
    expect(() => mustBeBytes('key', value)).toThrow(new TypeError(`key must be a Uint8Array, got ${kind}`));
  });

  test('rejects an array whose buffer was transferred, which looks empty', () => {
    for (const key of [Uint8Array.of(1, 2, 3), new Uint8Array(new ArrayBuffer(8), 3, 2), new Uint8Array(new ArrayBuffer(8), 3, 0)]) {
      structuredClone(key.buffer, { transfer: [key.buffer] });
      expect(key.length).toBe(0);
      const message = 'key must be a Uint8Array with its bytes, got one whose ArrayBuffer is detached';
      expect(() => mustBeBytes('key', key)).toThrow(new TypeError(message));
    }
  });

  test('rejects an array of another realm whose buffer was transferred', () => {
    const key = vm.runInNewContext('Uint8Array.of(1, 2)') as Uint8Array<ArrayBuffer>;
    structuredClone(key.buffer, { transfer: [key.buffer] });
    expect(() => mustBeBytes('key', key)).toThrow('detached');
  });
});

test.each([
  [0, 'a whole number, at least 1, got 0'],
  [1.5, 'a whole number, at least 1, got 1.5'],
  [NaN, 'a whole number, at least 1, got NaN'],
  [2 ** 53, 'a whole number, at least 1, got 9007199254740992'],
  ['5', 'a whole number, at least 1, got "5"'],
  ['x'.repeat(1000), `a whole number, at least 1, got "${'x'.repeat(64)}"`],
  [5n, 'a whole number, at least 1, got bigint'],
  [null, 'a whole number, at least 1, got null'],
  [undefined, 'a whole number, at least 1, got undefined'],
  [Symbol('five'), 'a whole number, at least 1, got symbol'],
  [[5], 'a whole number, at least 1, got an Array'],
  // String() fails for these two.
  [Object.create(null), 'a whole number, at least 1, got object'],
  [new Proxy(new Uint8Array(1), {}), 'a whole number, at least 1, got a Uint8Array'],
])('mustBeWhole rejects %o', (value, problem) => {
  expect(() => mustBeWhole('limit', value as number, 1)).toThrow(new RangeError(`limit must be ${problem}`));
  expect(mustBeWhole('limit', 7, 1)).toBe(7);
});

test('mustBeBoolean rejects the string "false"', () => {
  expect(() => mustBeBoolean('reverse', 'false')).toThrow(new TypeError('reverse must be a boolean, got string'));
  expect(() => mustBeBoolean('reverse', false)).not.toThrow();
});

test('mustBeFunction rejects a value that cannot be called', () => {
  expect(() => mustBeFunction('matches', /x/)).toThrow(new TypeError('matches must be a function, got a RegExp'));
  expect(() => mustBeFunction('matches', () => true)).not.toThrow();
});

test('mustBeArray rejects a single item', () => {
  expect(() => mustBeArray('shelves', new Shelf(), 'shelves')).toThrow(new TypeError('shelves must be an array of shelves, got a Shelf'));
  expect(() => mustBeArray('shelves', [], 'shelves')).not.toThrow();
});

test('mustBeIterable accepts iterable objects, and rejects a string', () => {
  for (const keys of [[], new Set(), new Map().values()]) expect(() => mustBeIterable('keys', keys, 'Uint8Arrays')).not.toThrow();
  for (const [kind, keys] of [['string', 'abc'], ['undefined', undefined], ['object', {}]] as const) {
    expect(() => mustBeIterable('keys', keys, 'Uint8Arrays')).toThrow(new TypeError(`keys must be an iterable of Uint8Arrays, got ${kind}`));
  }
});

describe('mustBeSignal', () => {
  test('accepts a signal', () => {
    expect(() => mustBeSignal('signal', new AbortController().signal)).not.toThrow();
    expect(() => mustBeSignal('signal', AbortSignal.abort())).not.toThrow();
  });

  test('rejects a controller, and names what to pass instead', () => {
    const message = 'signal must be an AbortSignal, got an AbortController: pass its signal';
    expect(() => mustBeSignal('signal', new AbortController())).toThrow(new TypeError(message));
  });

  test.each([['string', 'abort'], ['null', null], ['boolean', true]])('rejects a %s', (kind, value) => {
    expect(() => mustBeSignal('signal', value)).toThrow(new TypeError(`signal must be an AbortSignal, got ${kind}`));
  });
});

describe('mustHaveMethods', () => {
  const check = (value: unknown): void => mustHaveMethods('shelf', value, 'a shelf', ['find']);

  test('accepts any object with the methods', () => {
    expect(() => check(new Shelf())).not.toThrow();
    expect(() => check({ find: () => 1 })).not.toThrow();
  });

  test.each([
    ['a class instead of an instance', Shelf, 'the class Shelf: pass an instance, new Shelf()'],
    ['a path', 'shelf.txt', 'string'],
    ['undefined', undefined, 'undefined'],
    ['an object without the method', { find: 1 }, 'object without find()'],
    ['another kind of object', new Map(), 'a Map without find()'],
  ])('rejects %s', (_, value, got) => {
    expect(() => check(value)).toThrow(new TypeError(`shelf must be a shelf, got ${got}`));
  });
});

describe('mustHaveAtMost', () => {
  test('refuses one argument too many, and lists those that the call takes', () => {
    expect(() => mustHaveAtMost('openShelf', 'a name', 1, 2)).toThrow(new TypeError('openShelf takes a name, got 2 arguments'));
    expect(() => mustHaveAtMost('closeShelf', 'no arguments', 0, 1)).toThrow(new TypeError('closeShelf takes no arguments, got 1 argument'));
    expect(() => mustHaveAtMost('openShelf', 'a name', 1, 1)).not.toThrow();
    expect(() => mustHaveAtMost('openShelf', 'a name', 1, 0)).not.toThrow();
  });
});

describe('copiedOptions', () => {
  const known = { maxBytes: true, comparator: true } as const;

  test('copies the options that there are, inherited ones too', () => {
    class Given {
      readonly #bytes = 5;
      get maxBytes(): number {
        return this.#bytes;
      }
    }
    const options: readonly { maxBytes?: number; comparator?: unknown }[] = [{ maxBytes: 5 }, new Given(), Object.create({ maxBytes: 5 }) as object, Object.assign(Object.create({ maxBytes: 6 }) as object, { maxBytes: 5 })];
    for (const given of options) expect(copiedOptions('openShelf', given, known)).toStrictEqual({ maxBytes: 5 });
    expect(copiedOptions('openShelf', { maxBytes: undefined, comparator: null }, known)).toStrictEqual({ maxBytes: undefined, comparator: null });
  });

  test('copies no name that all objects inherit', () => {
    const inherited = { borrowed: true } as const;
    const names = Object.assign(Object.create(inherited) as object, known);
    expect(copiedOptions('openShelf', Object.create(inherited) as object, names)).toStrictEqual({});
  });

  test('refuses unknown names', () => {
    const given: object = { maxByte: 5 };
    expect(() => copiedOptions('openShelf', given, known)).toThrow(new TypeError('openShelf has no option "maxByte": did you mean maxBytes?'));
  });
});

describe('mustBeOptions', () => {
  const check = (options: unknown): void => mustBeOptions('openShelf', options, { maxBytes: true, comparator: true });

  test('refuses a signal, which has no names of its own, in place of an object with it', () => {
    const message = 'the options of openShelf must be an object, got an AbortSignal: pass { signal }';
    expect(() => check(new AbortController().signal)).toThrow(new TypeError(message));
    expect(() => check({})).not.toThrow();
  });

  test('refuses an instance of a class that has none of the options, such as what another argument should be', () => {
    class Shelf {
      readonly #books = [];
      get count(): number {
        return this.#books.length;
      }
    }
    class Given {
      readonly #bytes = 5;
      get maxBytes(): number {
        return this.#bytes;
      }
    }
    expect(() => check(new Shelf())).toThrow(new TypeError('the options of openShelf must be an object, got a Shelf'));
    for (const options of [new Given(), Object.create(null) as object, Object.create({ maxBytes: 5 }) as object]) expect(() => check(options)).not.toThrow();
  });

  test.each<[string, object]>([
    ['an Array', []],
    ['an Array', [1]],
    ['a Uint8Array', new Uint8Array(0)],
    ['a Uint8Array', new Uint8Array(3)],
    ['a Map', new Map([['maxBytes', 5]])],
  ])('refuses %s in place of options', (kind, options) => {
    expect(() => check(options)).toThrow(new TypeError(`the options of openShelf must be an object, got ${kind}`));
  });

  test('accepts known names, and unknown ones with the value undefined', () => {
    for (const options of [{}, { maxBytes: 5 }, { maxBytes: undefined, other: undefined }]) expect(() => check(options)).not.toThrow();
  });

  test.each([
    ['maxbytes', 'did you mean maxBytes?'],
    ['max_bytes', 'did you mean maxBytes?'],
    ['comparer', 'did you mean comparator?'],
    ['colour', 'it has maxBytes, comparator'],
    ['constructor', 'it has maxBytes, comparator'],
  ])('rejects %s with a hint', (name, hint) => {
    expect(() => check({ [name]: 1 })).toThrow(new TypeError(`openShelf has no option "${name}": ${hint}`));
  });

  // To compare names takes time in proportion to the product of their lengths.
  test('compares no name of more than 64 characters with the known ones, and shows as many of it', () => {
    const [known, most] = ['x'.repeat(63), 'x'.repeat(64)];
    const refused = (length: number): void => mustBeOptions('openShelf', { ['x'.repeat(length)]: 1 }, { [known]: true });
    expect(() => refused(64)).toThrow(new TypeError(`openShelf has no option "${most}": did you mean ${known}?`));
    for (const length of [65, 2 ** 20]) expect(() => refused(length)).toThrow(new TypeError(`openShelf has no option "${most}": it has ${known}`));
  });

  test.each([['null', null], ['string', 'x'], ['number', 10], ['function', () => 1]])('rejects %s in place of options', (kind, value) => {
    expect(() => check(value)).toThrow(new TypeError(`the options of openShelf must be an object, got ${kind}`));
  });
});

describe('mustNotMisspell', () => {
  const check = (options: unknown): void => mustNotMisspell('openShelf', options, { maxBytes: true, readOnly: true, lock: true, gt: true, lt: true }, { shelfcache: 'did you mean maxBytes?' });

  test.each([
    ['readonly', 'readOnly'],
    ['READ_ONLY', 'readOnly'],
    ['read-only', 'readOnly'],
    ['raedOnyl', 'readOnly'],
    ['maxByte', 'maxBytes'],
    ['lokc', 'lock'],
    ['locks', 'lock'],
    ['GT', 'gt'],
    ['shelfCache', 'maxBytes'],
  ])('refuses %s, which is another spelling of %s', (name, meant) => {
    expect(() => check({ [name]: 1 })).toThrow(new TypeError(`openShelf has no option "${name}": did you mean ${meant}?`));
  });

  test.each(['custom', 'et', 'gte', 'maximum', 'color', 'constructor', 'toString', '', 'x'.repeat(2 ** 20)])('accepts the name %#, which is like no known one', (name) => {
    expect(() => check({ [name]: 1 })).not.toThrow();
  });

  test('accepts another spelling whose value is undefined', () => {
    expect(() => check({ readonly: undefined })).not.toThrow();
  });

  test.each([['an Array', []], ['null', null], ['string', 'x'], ['a Uint8Array', new Uint8Array(0)]])('refuses %s in place of options', (kind, value) => {
    expect(() => check(value)).toThrow(new TypeError(`the options of openShelf must be an object, got ${kind}`));
  });
});
