import { UnavailableError } from './built-program.js';
import { PeerProcess } from './peer-process.js';
import type { ProgramCommand } from './program-command.js';

/** What is so of a peer, as the tests show. */
export interface PeerTraits {
  /** With its version, such as `goleveldb 1.0.0`. */
  readonly name: string;
  /** Whose format its folders have. Pebble's earliest format is LevelDB's, with other settings. */
  readonly format: 'LevelDB' | 'RocksDB' | 'Pebble';
  /** What it says of a folder that another process has locked. */
  readonly refusal: RegExp;
  /** What a killed process leaves: everything that `apply` wrote, or only what was there at the last `flush`. */
  readonly keeps: 'what is applied' | 'what is flushed';
  /** Whether it has `flush`. */
  readonly flushes: boolean;
  /** Whether it has `compact`. */
  readonly compacts: boolean;
  /** The name of its tables. One that writes `.sst` opens no `.ldb`; the others open both. */
  readonly tables: '.ldb' | '.sst';
  /** The name of the filters in the tables that it writes; `undefined`: none. */
  readonly filter: string | undefined;
  /** Whether its tables may have an empty key. */
  readonly emptyKeys: boolean;
}

/** Another program that writes folders like LevelDB's, for tests beside it. */
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

  /** Builds the program, unless it is there, and says why it cannot be built on this machine; `undefined` if it can be started. */
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

  /** Starts a process for the time of `use`, and kills it afterwards. */
  async with<T>(use: (process: PeerProcess) => Promise<T>): Promise<T> {
    const started = await this.start();
    try {
      return await use(started);
    } finally {
      await started.kill();
    }
  }
}
