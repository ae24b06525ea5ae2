import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** The result of one call of `time`. */
export interface Timing {
  /** Wall time in nanoseconds. */
  readonly wall: number;
  /** Processor time of all threads, in nanoseconds. */
  readonly cpu: number;
  readonly units: number;
}

/** A process that does jobs on request. The protocol is described at the top of leveldb-bench.cc. */
export class Contender {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(name: string, command: readonly string[]) {
    this.#name = name;
    this.#child = spawn(command[0]!, command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async version(): Promise<string> {
    const [version] = await this.#ask('version');
    return version!;
  }

  /** Does the work once. @returns a checksum that is the same for every contender. */
  async check(job: string, size: number): Promise<number> {
    const [sum] = await this.#ask(`check ${job} ${size}`);
    return Number(sum);
  }

  async time(job: string, size: number, passes: number): Promise<Timing> {
    const [wall, cpu, units] = await this.#ask(`time ${job} ${size} ${passes}`);
    return { wall: Number(wall), cpu: Number(cpu), units: Number(units) };
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin!.end();
    // A process that holds a database open does not exit by itself.
    this.#child.kill();
    await exit;
  }

  async #ask(request: string): Promise<string[]> {
    this.#child.stdin!.write(`${request}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.#name} ended at "${request}"`);
    return line.value.split(' ').slice(1);
  }
}
