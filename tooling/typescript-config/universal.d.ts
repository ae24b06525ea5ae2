// Globals that Node, browsers, workers, Deno and Bun all have but ES2022 does not define. A core may use no others.

interface TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, to: Uint8Array): { read: number; written: number };
}
declare const TextEncoder: new () => TextEncoder;

interface TextDecoder {
  decode(bytes?: ArrayBufferView | ArrayBuffer): string;
}
declare const TextDecoder: new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }) => TextDecoder;

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare const AbortController: new () => AbortController;
declare const performance: { now(): number };

declare function setTimeout(callback: () => void, milliseconds: number): unknown;
declare function clearTimeout(timer: unknown): void;

interface SymbolConstructor {
  readonly asyncDispose: unique symbol;
  readonly dispose: unique symbol;
}

declare function btoa(latin1: string): string;
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<Value>(value: Value, options?: { transfer?: ArrayBuffer[] }): Value;

interface URL {
  readonly href: string;
}
declare const URL: new (url: string, base?: string) => URL;

interface ImportMeta {
  readonly url: string;
}
