const encoder = new TextEncoder();

/** The entries of a version, about 2 MB. Each value has the number of the version. */
export function* versionEntries(version: number): Generator<[Uint8Array, Uint8Array]> {
  for (let i = 0; i < 2100 + (version % 7) * 50; i++) {
    const value = new Uint8Array(1000).fill(i);
    new DataView(value.buffer).setUint32(0, version);
    yield [encoder.encode(`key ${String(i).padStart(6, '0')}`), value];
  }
}
