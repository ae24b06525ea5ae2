/**
 * An array of `count` elements that are undefined, without holes.
 *
 * Not by `Array.prototype.fill`, with which V8 (11.3) visits all contexts of the process: it takes 0.2 µs for each, and programs that call
 * `vm.runInNewContext` often, such as PouchDB's map functions, have thousands.
 */
export function undefinedSlots<T>(count: number): (T | undefined)[] {
  const slots: undefined[] = [];
  for (let i = 0; i < count; i++) slots.push(undefined);
  return slots;
}
