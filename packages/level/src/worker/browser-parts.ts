/** The parts of browsers that are used: workers, ports, channels and locks. */

export interface MessagePortLike {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown, transfer?: readonly unknown[]): void;
  close(): void;
}

/** The part of a `Worker` that is needed. */
export interface WorkerLike {
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  postMessage(message: unknown, transfer: readonly unknown[]): void;
  terminate(): void;
}

export interface WorkerScope {
  onmessage: ((event: { readonly data: unknown; readonly ports: readonly MessagePortLike[] }) => void) | null;
  close(): void;
}

export interface LockManager {
  request(name: string, options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal }, held: (lock: unknown) => Promise<void> | undefined): Promise<unknown>;
}

interface BrowserParts {
  readonly MessageChannel: new () => { readonly port1: MessagePortLike; readonly port2: MessagePortLike };
  readonly BroadcastChannel: new (name: string) => MessagePortLike;
  readonly navigator: { readonly locks: LockManager; readonly storage?: { estimate?(): Promise<{ readonly quota?: number; readonly usage?: number }> } };
  readonly crypto: { randomUUID(): string };
}

export const browser = globalThis as unknown as BrowserParts;
