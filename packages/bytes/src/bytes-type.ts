/**
 * Bytes whose buffer is an `ArrayBuffer` and not a `SharedArrayBuffer`, as `Blob`, `Response`, `WebSocket.send` and
 * `crypto.subtle` require.
 *
 * From TypeScript 5.7 on this is `Uint8Array<ArrayBuffer>`. Older versions, whose `Uint8Array` takes no type argument, would
 * refuse that name, so the type is that of what `Uint8Array.of` returns.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>;
