import type { Folder, FolderFile } from '@bloom/leveldb';
import { MemorySource } from '@bloom/sstable';

/** A folder in memory that answers with promises, and with reads that a test can hold up or let fail. */
export class GatedFolder implements Folder {
  files: ReadonlyMap<string, Uint8Array>;
  /** The names of the files that are open, once for each time. */
  readonly openFiles: string[] = [];
  /** Called before each file is opened. */
  onOpen: (name: string) => void | Promise<void> = () => undefined;
  /** Called before each read. */
  onRead: (name: string) => void | Promise<void> = () => undefined;

  constructor(files: ReadonlyMap<string, Uint8Array>) {
    this.files = files;
  }

  list(): Promise<string[]> {
    return Promise.resolve([...this.files.keys()]);
  }

  async open(name: string): Promise<FolderFile | undefined> {
    await this.onOpen(name);
    const bytes = this.files.get(name);
    if (bytes === undefined) return undefined;
    const source = new MemorySource(bytes, name);
    this.openFiles.push(name);
    return {
      byteLength: bytes.length,
      name,
      read: async (offset, length) => {
        await this.onRead(name);
        if (!this.openFiles.includes(name)) throw new Error(`${name} is closed`);
        return source.read(offset, length);
      },
      close: () => {
        this.openFiles.splice(this.openFiles.indexOf(name), 1);
      },
    };
  }
}

/** A gate for reads: those that come to it wait until it is opened. */
export class Gate {
  #isOpen = false;
  #waiting: (() => void)[] = [];

  pass(): void | Promise<void> {
    if (!this.#isOpen) return new Promise((resolve) => this.#waiting.push(resolve));
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }
}
