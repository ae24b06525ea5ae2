import { runEnding, withFile } from './closing-files.js';
import { piecesOf } from './file-pieces.js';
import type { WritableFolder } from './writable-folder.js';

/**
 * The folder `lost` of a database, which keeps damaged files that the database no longer uses.
 *
 * Nothing in it is ever replaced. LevelDB's repair keeps each file's own name there and so overwrites files of an earlier repair.
 *
 * Source: LevelDB, db/repair.cc, `Repairer::ArchiveFile`.
 */
export class LostFiles {
  readonly #folder: WritableFolder;
  readonly #lost: WritableFolder;
  readonly #taken: Set<string>;

  private constructor(folder: WritableFolder, lost: WritableFolder, taken: Set<string>) {
    this.#folder = folder;
    this.#lost = lost;
    this.#taken = taken;
  }

  /** Creates the folder unless it exists. */
  static async open(folder: WritableFolder): Promise<LostFiles> {
    const lost = folder.lostFolder();
    await lost.createFolder();
    return new LostFiles(folder, lost, new Set(await lost.list()));
  }

  /** Moves a file of the database here. @returns its name here. */
  async move(name: string): Promise<string> {
    const as = this.#freeName(name);
    await this.#folder.moveToLost(name, as);
    return as;
  }

  /** Copies a file of the database, and syncs the copy. @returns the name of the copy. */
  async copy(name: string): Promise<string> {
    const as = this.#freeName(name);
    await withFile(this.#folder, name, async (source) => {
      if (source === undefined) throw new Error(`${name} is gone`);
      const file = await this.#lost.create(as);
      await runEnding(async () => {
        for await (const piece of piecesOf(source)) await file.append(piece);
        await file.sync();
      }, () => file.close());
    });
    return as;
  }

  /** Makes all moves and copies so far survive a power failure. */
  async sync(): Promise<void> {
    await this.#lost.syncFolder();
    await this.#folder.syncFolder();
  }

  /** `name`, or, if a file has it already, `name.1`, `name.2` and so on. */
  #freeName(name: string): string {
    let free = name;
    for (let i = 1; this.#taken.has(free); i++) free = `${name}.${i}`;
    this.#taken.add(free);
    return free;
  }
}
