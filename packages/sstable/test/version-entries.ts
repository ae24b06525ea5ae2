const encoder = new TextEncoder();

/** Entries of a version: about 2 MB, each with the number of the version in its value. */
export function* versionEntries(version: number): Generator<[Uint8Array, Uint8Array]> {
  for (let i = 0; i < 2100 + (version % 7) * 50; i++) {
    const value = new Uint8Array(1000).fill(i);
    new DataView(value.buffer).setUint32(0, version);
    yield [encoder.encode(`key ${String(i).padStart(6, '0')}`), value];
  }
}
