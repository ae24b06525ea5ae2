import type { AccessHandle, DirectoryHandle, FileHandle } from '../src/opfs/opfs-host.js';

const failure = (name: string): Error => Object.assign(new Error(name), { name });

class MemoryFile implements FileHandle {
  bytes = new Uint8Array(0);
  isOpen = false;

  /** @param siblings the items of its directory. */
  constructor(private siblings: Map<string, unknown>, private name: string) {}

  getFile(): Promise<never> {
    return Promise.reject(failure('NotReadableError'));
  }

  createWritable(): Promise<never> {
    return Promise.reject(failure('NotSupportedError'));
  }

  move(directory: MemoryDirectory, name: string): Promise<void> {
    if (this.isOpen) return Promise.reject(failure('NoModificationAllowedError'));
    this.siblings.delete(this.name);
    this.siblings = directory.items;
    this.siblings.set(name, this);
    this.name = name;
    return Promise.resolve();
  }

  createSyncAccessHandle(): Promise<AccessHandle> {
    if (this.isOpen) return Promise.reject(failure('NoModificationAllowedError'));
    this.isOpen = true;
    return Promise.resolve({
      read: (into, { at }) => {
        const found = this.bytes.subarray(at, at + into.length);
        into.set(found);
        return found.length;
      },
      write: (bytes, { at }) => {
        const end = at + bytes.length;
        if (end > this.bytes.length) this.#resize(end);
        this.bytes.set(bytes, at);
        return bytes.length;
      },
      getSize: () => this.bytes.length,
      truncate: (length) => this.#resize(length),
      flush: () => undefined,
      close: () => void (this.isOpen = false),
    });
  }

  #resize(length: number): void {
    const bytes = new Uint8Array(length);
    bytes.set(this.bytes.subarray(0, length));
    this.bytes = bytes;
  }
}

class MemoryDirectory implements DirectoryHandle {
  readonly items = new Map<string, MemoryDirectory | MemoryFile>();

  constructor(readonly name: string) {}

  async *keys(): AsyncGenerator<string> {
    yield* [...this.items.keys()];
  }

  getFileHandle(name: string, options?: { readonly create: boolean }): Promise<MemoryFile> {
    return this.#item(name, options, () => new MemoryFile(this.items, name));
  }

  getDirectoryHandle(name: string, options?: { readonly create: boolean }): Promise<MemoryDirectory> {
    return this.#item(name, options, () => new MemoryDirectory(name));
  }

  removeEntry(name: string): Promise<void> {
    const item = this.items.get(name);
    if (item === undefined) return Promise.reject(failure('NotFoundError'));
    if (item instanceof MemoryFile ? item.isOpen : item.items.size > 0) return Promise.reject(failure('NoModificationAllowedError'));
    this.items.delete(name);
    return Promise.resolve();
  }

  #item<Item extends MemoryDirectory | MemoryFile>(name: string, options: { readonly create: boolean } | undefined, make: () => Item): Promise<Item> {
    const found = this.items.get(name) as Item | undefined;
    if (found !== undefined) return Promise.resolve(found);
    if (options?.create !== true) return Promise.reject(failure('NotFoundError'));
    const made = make();
    this.items.set(name, made);
    return Promise.resolve(made);
  }
}

/** The parts of a browser's `navigator` that folders in the origin private file system need, in memory. */
export class MemoryOpfs {
  readonly #root = new MemoryDirectory('');
  /** The names of the locks that are held. */
  readonly held = new Set<string>();
  readonly storage = { getDirectory: () => Promise.resolve(this.#root) };
  readonly locks = {
    query: () => Promise.resolve({ held: [...this.held].map((name) => ({ name })) }),
    request: async (name: string, _: unknown, run: (lock: unknown) => Promise<void> | undefined): Promise<void> => {
      if (this.held.has(name)) return run(null);
      this.held.add(name);
      try {
        await run({});
      } finally {
        this.held.delete(name);
      }
    },
  };

  has(folder: string): boolean {
    return this.#root.items.has(folder);
  }

  /** Sets whether another worker has a file of a folder open. */
  setOpen(folder: string, name: string, isOpen: boolean): void {
    const file = (this.#root.items.get(folder) as MemoryDirectory).items.get(name) as MemoryFile;
    file.isOpen = isOpen;
  }
}
