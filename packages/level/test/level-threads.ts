/** Threads that use levels. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import { build } from 'esbuild';
import type { BloomLevel } from '@bloom/level';

/** What a function in a thread is given. */
export interface ThreadScope {
  readonly BloomLevel: typeof BloomLevel;
  /** The port to the thread that started this one. */
  readonly port: MessagePort;
  /** What functions leave for later ones. */
  readonly kept: Record<string, unknown>;
}

/** Bundles the program of the threads, so that they start quickly. @returns its path, in a folder of its own. */
export async function threadProgram(): Promise<string> {
  // From there, the package that locks folders is found.
  const reports = join(import.meta.dirname, '../../leveldb/.vitest');
  mkdirSync(reports, { recursive: true });
  const outfile = join(mkdtempSync(join(reports, 'threads-')), 'level-thread.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'level-thread.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['bloom-source'],
    external: ['fs-native-extensions', '@koromix/*'],
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}

export function deleteProgram(program: string): void {
  rmSync(dirname(program), { recursive: true });
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

interface Outcome {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code: unknown; readonly cause: unknown };
}

export class LevelThread {
  readonly worker: Worker;
  readonly ended: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  /** @param hear gets what functions post to the port of the thread. */
  constructor(program: string, hear: (message: unknown) => void = () => undefined) {
    this.worker = new Worker(program);
    this.ended = new Promise((resolve) => this.worker.once('exit', () => resolve()));
    this.worker.on('message', (message: Outcome) => {
      const waiting = this.#waiting.get(message.id);
      if (waiting === undefined) {
        hear(message);
        return;
      }
      this.#waiting.delete(message.id);
      const { result, error } = message;
      if (error === undefined) waiting.resolve(result as never);
      else waiting.reject(Object.assign(new Error(error.message, { cause: error.cause }), { code: error.code }));
    });
    // What was asked for stays unanswered when the thread is ended.
    this.worker.once('exit', () => this.#waiting.clear());
    this.worker.on('error', (error: Error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  /** Runs a function, which refers to nothing outside of it, in the thread. */
  run<Given, Result>(call: (scope: ThreadScope, given: Given) => Result, given?: Given): Promise<Awaited<Result>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, source: String(call), given });
    });
  }

  /** Opens a level under a name. */
  open(path: string, options: object = { multithreading: true }, name = 'level'): Promise<void> {
    return this.run(
      async ({ BloomLevel: Level, kept }, { path: location, options: wanted, name: as }) => {
        const level = new Level(location, wanted);
        kept[as] = level;
        await level.open();
      },
      { path, options, name },
    );
  }

  close(name = 'level'): Promise<void> {
    return this.run(({ kept }, as) => (kept[as] as BloomLevel).close(), name);
  }

  /** Calls a method of the level. */
  call(method: 'get' | 'put' | 'del' | 'batch' | 'clear' | 'has' | 'getMany' | 'getSync' | 'getProperty' | 'compactRange' | 'approximateSize', ...given: unknown[]): Promise<unknown> {
    return this.run(({ kept }, [name, values]) => (kept.level as Record<string, (...all: unknown[]) => unknown>)[name]!(...values), [method, given] as const);
  }

  /** Ends the thread in the middle of what it does. */
  async terminate(): Promise<void> {
    await this.worker.terminate();
  }
}
