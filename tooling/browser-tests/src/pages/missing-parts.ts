/** Polyfills for functions that the scripts of the pages need and old browsers lack. */
const host = self as unknown as Record<string, unknown>;
host.globalThis ??= self;

const objects = Object as unknown as Record<string, unknown>;
 
objects.hasOwn ??= (object: object, name: string): boolean => Object.prototype.hasOwnProperty.call(object, name);

const { stringify } = JSON;
// Older versions wrote unpaired surrogates unescaped, which UTF-8 cannot represent.
if (stringify('\ud800').length === 3) {
  JSON.stringify = (value: unknown): string => stringify(value).replace(/[\ud800-\udfff]/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}

export {};
