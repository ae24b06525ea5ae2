/**
 * A view of the filter that was asked last, of which a policy reads four bytes at a time.
 *
 * A filter gets one when it is asked twice in a row: making it takes as long as asking once.
 */
export class LastFilterView {
  #filter: Uint8Array | undefined;
  #view: DataView | undefined;

  /** A view of all of `filter`; undefined where there is none. */
  of(filter: Uint8Array): DataView | undefined {
    if (filter !== this.#filter) {
      this.#filter = filter;
      this.#view = undefined;
      return undefined;
    }
    return this.#view ?? (this.#view = viewOf(filter));
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array & { readonly buffer: { readonly resizable?: boolean; readonly growable?: boolean } }): DataView | undefined {
  // The array may become longer or shorter where its buffer may, and a view would not.
  return buffer.resizable === true || buffer.growable === true ? undefined : new DataView(buffer, byteOffset, byteLength);
}
