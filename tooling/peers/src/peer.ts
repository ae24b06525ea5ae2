import { UnavailableError } from './built-program.js';
import { PeerProcess } from './peer-process.js';
import type { ProgramCommand } from './program-command.js';

/** The properties of a peer, which tests check. */
export interface PeerTraits {
  /** The name with the version, such as `goleveldb 1.0.0`. */
  readonly name: string;
  /** The format of its folders. Pebble's earliest format is LevelDB's with other settings. */
  readonly format: 'LevelDB' | 'RocksDB' | 'Pebble';
  /** Its error for a folder that another process has locked. */
  readonly refusal: RegExp;
  /** The writes that survive when its process is killed: all writes of `apply`, or only those before the last `flush`. */
  readonly keeps: 'what is applied' | 'what is flushed';
  /** Whether it has `flush`. */
  readonly flushes: boolean;
  /** Whether it has `compact`. */
  readonly compacts: boolean;
  /** The extension of its tables. A peer that writes `.sst` does not open `.ldb`; the others open both. */
  readonly tables: '.ldb' | '.sst';
  /** The name of the filters in its tables; undefined if they have none. */
  readonly filter: string | undefined;
  /** Whether its tables may have an empty key. */
  readonly emptyKeys: boolean;
}

/** Another program that writes folders like LevelDB's, for tests that compare with it. */
export class Peer {
  readonly traits: PeerTraits;
  readonly #built: () => Promise<ProgramCommand>;
  #command: ProgramCommand | undefined;
  #unavailable: string | undefined;

  constructor(traits: PeerTraits, built: () => Promise<ProgramCommand>) {
    this.traits = traits;
    this.#built = built;
  }

  get name(): string {
    return this.traits.name;
  }

  /** Builds the program if necessary. @returns why it cannot be built on this machine; undefined if it can be started. */
  async unavailableReason(): Promise<string | undefined> {
    if (this.#command !== undefined || this.#unavailable !== undefined) return this.#unavailable;
    try {
      this.#command = await this.#built();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      this.#unavailable = error.message;
    }
    return this.#unavailable;
  }

  /** How the program is started, or why it cannot be built on this machine. */
  async command(): Promise<ProgramCommand | string> {
    return (await this.unavailableReason()) ?? this.#command!;
  }

  /** Starts a process, which has no database open yet. */
  async start(): Promise<PeerProcess> {
    const command = await this.command();
    if (typeof command === 'string') throw new Error(`${this.name}: ${command}`);
    return new PeerProcess(this.name, command);
  }

  /** Starts a process, runs `use` with it, and kills it afterwards. */
  async with<T>(use: (process: PeerProcess) => Promise<T>): Promise<T> {
    const started = await this.start();
    try {
      return await use(started);
    } finally {
      await started.kill();
    }
  }
}
