/**
 * Refuses what is not bytes. A string indexed as if it were bytes reads as zeros, an array of wider numbers loses their
 * upper bits, and a detached array looks empty: a key hashed from any of these would later be called absent.
 *
 * Costs about a nanosecond: `instanceof` is inlined, and everything else is off the fast path.
 *
 * @param name the argument's name, for the message.
 * @throws TypeError when `value` is not a `Uint8Array`, or its buffer was transferred elsewhere.
 */
export function mustBeBytes(name: string, value: unknown): asserts value is Uint8Array {
  if (value instanceof Uint8Array && value.length > 0) return;
  mustBeEmptyOrForeign(name, value);
}

/** Empty arrays, which may be detached ones, and those of another realm, such as a test runner's sandbox. */
function mustBeEmptyOrForeign(name: string, value: unknown): void {
  if (!ArrayBuffer.isView(value) || tagOf(value) !== 'Uint8Array') {
    throw new TypeError(`${name} must be a Uint8Array, got ${kindOf(value)}`);
  }
  if (value.byteLength === 0 && isDetached(value.buffer)) {
    throw new TypeError(`${name} must not be detached: its buffer was transferred`);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? tagOf(value) : typeof value;
}

/** `Uint16Array`, `Array`, `Object` and the like. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function isDetached(buffer: ArrayBufferLike): boolean {
  if (buffer.byteLength > 0) return false;
  try {
    // ES2024 has `buffer.detached`. Before, only the refusal of a new view tells.
    new Uint8Array(buffer);
    return false;
  } catch {
    return true;
  }
}
