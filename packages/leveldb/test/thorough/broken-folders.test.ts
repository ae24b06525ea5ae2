import { DatabaseError, type FolderFile, type FolderLock, type PinnedFolder, type WritableFile, type WritableFolder } from '@bloom/leveldb';
import type { FileIdentity } from '@bloom/sstable';
import { FolderLawError, folderLaws } from '@bloom/leveldb/contract';
import { describe, expect, test } from 'vitest';
import { type Contents, Disk, joined, pause, type Reader, RightFolder } from '../right-folder.js';

const OPTIONS = RightFolder.options;

/** The numbers of the laws that a folder breaks, and what the one that is named says. */
async function broken(make: () => RightFolder, named: number): Promise<{ readonly laws: number[]; readonly says: string }> {
  const laws: number[] = [];
  let says = '';
  for (const law of folderLaws(make, OPTIONS)) {
    try {
      await law.run();
    } catch (error) {
      expect(error).toBeInstanceOf(FolderLawError);
      expect((error as FolderLawError).law).toBe(law.name);
      const number = parseInt(law.name, 10);
      laws.push(number);
      if (number === named) says = (error as FolderLawError).message;
    }
  }
  return { laws, says };
}

/** A reader of which some members are replaced. */
function withReader(change: (file: Reader, bytes: Uint8Array, contents: Contents) => Partial<Reader>): typeof RightFolder {
  return class extends RightFolder {
    protected override reader(bytes: Uint8Array, contents: Contents): Reader {
      const file = super.reader(bytes, contents);
      return Object.defineProperties(file, Object.getOwnPropertyDescriptors(change({ ...file }, bytes, contents)));
    }
  };
}

/** A writer of which some members are replaced. */
function withWriter(change: (file: WritableFile, contents: Contents, name: string, folder: RightFolder) => Partial<WritableFile>): typeof RightFolder {
  return class extends RightFolder {
    protected override writer(contents: Contents, name: string): WritableFile {
      const file = super.writer(contents, name);
      return { ...file, ...change(file, contents, name, this) };
    }
  };
}

interface Fault {
  readonly fault: string;
  /** The law that is about it. */
  readonly law: number;
  /** Other laws that cannot be kept with it, because what they are about needs it. */
  readonly also?: readonly number[];
  readonly says: RegExp;
  readonly folder: typeof RightFolder;
}

const faults: readonly Fault[] = [
  // 1. Reading in pieces
  {
    fault: 'reads from the start whatever the offset',
    law: 1,
    says: /read\(\d+, \d+\) of "CURRENT" has byte/,
    folder: withReader((file, bytes) => ({
      read: (_, length) => bytes.subarray(0, length),
      readSync: (_, length) => bytes.subarray(0, length),
      readInto: (_, into) => file.readInto!(0, into),
    })),
  },
  {
    fault: 'returns one byte less at the end of the file',
    law: 1,
    says: /returns \d+ bytes/,
    folder: withReader((file, bytes) => ({ read: (offset, length) => file.readSync!(offset, offset > 0 && offset + length === bytes.length ? length - 1 : length) })),
  },
  {
    fault: 'fills up with zeros past the end of the file',
    law: 1,
    says: /more than there are/,
    folder: withReader((_, bytes) => ({ read: (offset, length) => joined(bytes.subarray(offset, offset + length), new Uint8Array(Math.max(0, offset + length - bytes.length))) })),
  },
  // 2. What was read
  {
    fault: 'reads into one buffer that it uses again',
    law: 2,
    also: [6],
    says: /changes when other bytes are read/,
    folder: withReader((_, bytes) => {
      const buffer = new Uint8Array(bytes.length);
      return {
        async read(offset, length) {
          if (offset + length > bytes.length) throw new RangeError('outside');
          buffer.set(bytes.subarray(offset, offset + length));
          return buffer.subarray(0, length);
        },
      };
    }),
  },
  {
    fault: 'returns the same array at once again and again',
    law: 2,
    says: /the array that readAtOnce\(0, 500\) of "000005.ldb" returned changes/,
    folder: withReader((_, bytes) => {
      const lent = new Uint8Array(bytes.length);
      return {
        readAtOnce: (offset, length) => {
          lent.set(bytes.subarray(offset, offset + length));
          return lent.subarray(0, length);
        },
      };
    }),
  },

  // 3. Names of no file
  {
    fault: 'ignores the folder in a name',
    law: 3,
    says: /open\("\.\.\/CURRENT"\) returns a file/,
    folder: class extends RightFolder {
      override async open(name: string): Promise<FolderFile | undefined> {
        return super.open(name.slice(name.lastIndexOf('/') + 1));
      }
    },
  },
  {
    fault: 'throws for a name with a zero byte',
    law: 3,
    says: /open\("CURRENT\\u0000"\) fails: TypeError/,
    folder: class extends RightFolder {
      override async open(name: string): Promise<FolderFile | undefined> {
        if (name.includes('\0')) throw new TypeError('must be a string without null bytes');
        return super.open(name);
      }
    },
  },
  {
    fault: 'returns null for a file that is not there',
    law: 3,
    says: /open\("000006\.ldb"\) returns null/,
    folder: class extends RightFolder {
      override async open(name: string): Promise<FolderFile | undefined> {
        const file = await super.open(name);
        return file ?? (null as unknown as undefined);
      }
    },
  },
  {
    fault: 'has an identity for a file that is not there',
    law: 3,
    says: /identityOf\(".*"\) returns an identity/,
    folder: class extends RightFolder {
      override identityOf(name: string): FileIdentity | undefined {
        return super.identityOf(name) ?? { file: name, state: 0, isSettled: true };
      }
    },
  },
  // 4. The list
  {
    fault: 'lists only the names of tables and logs that it knows',
    law: 4,
    says: /list\(\) returns .* and the folder has/,
    folder: class extends RightFolder {
      override async list(): Promise<readonly string[]> {
        return (await super.list()).filter((name) => !name.endsWith('.sst'));
      }
    },
  },
  {
    fault: 'lists a file twice once it was opened',
    law: 4,
    says: /after its files were opened/,
    folder: class extends RightFolder {
      #opened = new Set<string>();

      override async open(name: string): Promise<FolderFile | undefined> {
        this.#opened.add(name);
        return super.open(name);
      }

      override async list(): Promise<readonly string[]> {
        const names = await super.list();
        return [...names, ...names.filter((name) => this.#opened.has(name))];
      }
    },
  },
  // 5. Closing what is read
  {
    fault: 'shares a descriptor between all readers of a file',
    law: 5,
    says: /EBADF/,
    folder: withReader((file, _, contents) => {
      let isClosed = false;
      const shared = contents as Contents & { closed?: number };
      const opened = shared.closed ?? 0;
      return {
        read(offset, length) {
          if ((shared.closed ?? 0) > opened && !isClosed) throw new Error('EBADF: bad file descriptor');
          return file.read(offset, length);
        },
        close() {
          isClosed = true;
          shared.closed = (shared.closed ?? 0) + 1;
        },
      };
    }),
  },
  {
    fault: 'throws when a reader is closed again',
    law: 5,
    says: /a second close\(\) of a file fails/,
    folder: withReader(() => {
      let isClosed = false;
      return {
        close() {
          if (isClosed) throw new Error('EBADF: bad file descriptor');
          isClosed = true;
        },
      };
    }),
  },
  // 6. Reads at the same time
  {
    fault: 'seeks, waits and then reads',
    law: 6,
    says: /when other reads are under way/,
    folder: withReader((_, bytes) => {
      let position = 0;
      return {
        async read(offset, length) {
          if (offset + length > bytes.length) throw new RangeError('outside');
          position = offset;
          await pause();
          return bytes.slice(position, position + length);
        },
      };
    }),
  },
  // 7. Reads without a promise
  {
    fault: 'reads from the start without a promise',
    law: 7,
    says: /readSync\(1, 1\) of "000005.ldb" returns other bytes/,
    folder: withReader((_, bytes) => ({ readSync: (_offset, length) => bytes.subarray(0, length) })),
  },
  {
    fault: 'returns a promise from readSync',
    law: 7,
    says: /readSync\(0, 5000\) of "000005.ldb" returns a promise/,
    folder: withReader((file) => ({ readSync: (offset, length) => Promise.resolve(file.read(offset, length)) as unknown as Uint8Array })),
  },
  {
    fault: 'returns bytes from elsewhere at once',
    law: 7,
    says: /readAtOnce\(1, 1\) of "000005.ldb" returns other bytes/,
    folder: withReader((_, bytes) => ({ readAtOnce: (_offset, length) => bytes.subarray(0, length) })),
  },
  {
    fault: 'returns fewer bytes at once',
    law: 7,
    says: /readAtOnce\(0, 5000\) of "000005.ldb" returns other bytes/,
    folder: withReader((_, bytes) => ({ readAtOnce: (offset, length) => bytes.subarray(offset, offset + length - 1) })),
  },
  {
    fault: 'returns null where it has no bytes at once',
    law: 7,
    says: /readAtOnce\(0, 5000\) of "000005.ldb" returns other bytes/,
    folder: withReader(() => ({ readAtOnce: () => null as unknown as undefined })),
  },
  {
    fault: 'returns a promise from readAtOnce',
    law: 7,
    also: [2],
    says: /readAtOnce\(0, 5000\) of "000005.ldb" returns a promise/,
    folder: withReader((file) => ({ readAtOnce: (offset, length) => Promise.resolve(file.read(offset, length)) as unknown as Uint8Array })),
  },
  {
    fault: 'returns the memory that readSync is given as it is',
    law: 7,
    says: /readSync, with memory to read into,\(0, 5000\) of "000005.ldb" returns other bytes/,
    folder: withReader((_, bytes) => ({ readSync: (offset, length, into) => into ?? bytes.subarray(offset, offset + length) })),
  },
  {
    fault: 'returns the memory that readAtOnce is given as it is',
    law: 7,
    says: /readAtOnce, with memory to read into,\(0, 5000\) of "000005.ldb" returns other bytes/,
    folder: withReader((_, bytes) => ({ readAtOnce: (offset, length, into) => into ?? bytes.subarray(offset, offset + length) })),
  },
  {
    fault: 'fills only a part of the memory that readInto is given',
    law: 7,
    says: /readInto\(0\) of "000005.ldb" reads 4096 of 5000 bytes/,
    folder: withReader((_, bytes) => ({
      readInto(offset, into) {
        const length = Math.min(into.length, 4096);
        into.set(bytes.subarray(offset, offset + length));
        return length;
      },
    })),
  },
  {
    fault: 'says that a file has changed as soon as it is open',
    law: 7,
    says: /hasChanged\(\)/,
    folder: withReader(() => ({ hasChanged: () => true })),
  },
  // 8. Identities
  {
    fault: 'tells an identity that no file has',
    law: 8,
    says: /identityOf\("000005.ldb"\) is not the identity/,
    folder: class extends RightFolder {
      override identityOf(name: string): FileIdentity | undefined {
        return this.disk.files.has(name) ? { file: name, state: {}, isSettled: true } : undefined;
      }
    },
  },
  // 9. Appending
  {
    fault: 'writes each array at the start of the file',
    law: 9,
    also: [10, 11, 12, 19, 21, 27, 28],
    says: /after 2 appends/,
    folder: withWriter((_, contents) => ({
      append(bytes) {
        contents.bytes = joined(bytes, contents.bytes.subarray(bytes.length));
      },
    })),
  },
  {
    fault: 'writes the whole buffer that a part was lent of',
    law: 9,
    says: /bytes|byte/,
    folder: withWriter((_, contents) => ({
      append(bytes) {
        const isPart = bytes.byteOffset > 0;
        contents.bytes = joined(contents.bytes, isPart ? new Uint8Array(bytes.buffer) : bytes);
      },
    })),
  },
  {
    fault: 'drops what is beyond 128 KiB in one call',
    law: 9,
    says: /after 6 appends/,
    folder: withWriter((file) => ({ append: (bytes) => file.append(bytes.subarray(0, 2 ** 17)) })),
  },
  {
    fault: 'refuses an array without bytes',
    law: 9,
    says: /append\(\) of 0 bytes fails/,
    folder: withWriter((file) => ({
      append(bytes) {
        if (bytes.length === 0) throw new Error('nothing to write');
        return file.append(bytes);
      },
    })),
  },
  // 10. What append was lent
  {
    fault: 'keeps the arrays until they are synced',
    law: 10,
    says: /after the arrays that append\(\) was lent were changed/,
    folder: withWriter((_, contents) => {
      const parts: Uint8Array[] = [];
      const before = contents.bytes;
      const settle = (): void => {
        contents.bytes = parts.reduce<Uint8Array<ArrayBuffer>>(joined, before);
      };
      return {
        append(bytes) {
          parts.push(bytes);
          settle();
        },
        sync() {
          settle();
          contents.synced = contents.bytes;
        },
      };
    }),
  },
  {
    fault: 'encrypts the bytes where they are',
    law: 10,
    says: /append\(\) changes the bytes/,
    folder: withWriter((file) => ({
      async append(bytes) {
        await file.append(bytes);
        bytes.fill(0);
      },
    })),
  },
  // 11. Readers of a file that grows
  {
    fault: 'has readers whose length grows with the file',
    law: 11,
    says: /the byteLength of "000004.log" changes from 500 to 40500/,
    folder: withReader((_, before, contents) => ({
      get byteLength() {
        return contents.bytes.length > before.length && before.length === 500 ? contents.bytes.length : before.length;
      },
    })),
  },
  {
    fault: 'moves a growing file to larger memory that it then clears',
    law: 11,
    says: /changes when "000004.log" grows|has byte/,
    folder: withWriter((file, contents) => ({
      async append(bytes) {
        const before = contents.bytes;
        contents.synced = contents.synced.slice();
        await file.append(bytes);
        before.fill(0);
      },
    })),
  },
  // 12. Appending again
  {
    fault: 'empties a file that is opened for appending',
    law: 12,
    says: /after openForAppend\(\)/,
    folder: class extends RightFolder {
      override async openForAppend(name: string): Promise<WritableFile | undefined> {
        const file = await super.openForAppend(name);
        this.mustHave(name).bytes = new Uint8Array(0);
        return file;
      }
    },
  },
  {
    fault: 'writes from the start of a file that is opened for appending',
    law: 12,
    says: /after openForAppend\(\) and append\(\), round 1/,
    folder: class extends RightFolder {
      override async openForAppend(name: string): Promise<WritableFile | undefined> {
        const contents = this.mustHave(name);
        const file = await super.openForAppend(name);
        let position = 0;
        return (
          file && {
            ...file,
            append(bytes) {
              const after = contents.bytes.slice();
              if (position + bytes.length > after.length) return file.append(bytes);
              after.set(bytes, position);
              position += bytes.length;
              contents.bytes = after;
            },
          }
        );
      }
    },
  },
  // 13. Creating over a file
  {
    fault: 'keeps what the file had before it was created',
    law: 13,
    also: [19],
    says: /after create\(\) over a file of that name/,
    folder: class extends RightFolder {
      override async create(name: string): Promise<WritableFile> {
        const before = this.disk.files.get(name)?.bytes;
        const file = await super.create(name);
        if (before !== undefined) this.mustHave(name).bytes = before.slice();
        return file;
      }
    },
  },
  {
    fault: 'refuses to create a file whose name is taken',
    law: 13,
    also: [16, 19, 26],
    says: /create\("000005.ldb"\) fails: Error: EEXIST/,
    folder: class extends RightFolder {
      override async create(name: string): Promise<WritableFile> {
        if (this.disk.files.has(name)) throw Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' });
        return super.create(name);
      }
    },
  },
  {
    fault: 'empties a file whose name is taken, under its readers',
    law: 13,
    says: /which was opened before/,
    folder: class extends RightFolder {
      override async create(name: string): Promise<WritableFile> {
        const before = this.disk.files.get(name)?.bytes;
        const file = await super.create(name);
        before?.fill(0);
        return file;
      }
    },
  },
  // 14. Renaming
  {
    fault: 'refuses to rename to a name that is taken',
    law: 14,
    also: [16, 17, 26, 29, 30],
    says: /rename\("000009.dbtmp", "CURRENT"\) fails: Error: EEXIST/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        if (this.disk.files.has(to)) throw Object.assign(new Error('EEXIST: file already exists'), { code: 'EEXIST' });
        return super.rename(from, to);
      }
    },
  },
  {
    fault: 'deletes the file of the new name first',
    law: 14,
    says: /open\("CURRENT"\) returns undefined while another file is renamed to it/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        this.mustHave(from);
        await this.delete(to);
        await pause();
        return super.rename(from, to);
      }
    },
  },
  {
    fault: 'renames by copying in pieces',
    law: 14,
    also: [29],
    says: /is neither the old file nor the new one while another file is renamed to it/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        const { bytes } = this.mustHave(from);
        const target = await this.create(to);
        for (let offset = 0; offset < bytes.length; offset += 1000) await target.append(bytes.subarray(offset, offset + 1000));
        await this.delete(from);
      }
    },
  },
  {
    fault: 'leaves the old name of a file that is renamed',
    law: 14,
    also: [16, 19, 21, 27, 29],
    says: /open\("a"\) returns a file after it was renamed/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        const contents = this.mustHave(from);
        await super.rename(from, to);
        this.disk.files.set(from, contents);
      }
    },
  },
  // 15. Deleting
  {
    fault: 'throws for a file that was deleted before',
    law: 15,
    says: /delete\("000005.ldb"\), which was deleted before, fails: Error: no such file/,
    folder: class extends RightFolder {
      override async delete(name: string): Promise<void> {
        this.mustHave(name);
        return super.delete(name);
      }
    },
  },
  {
    fault: 'deletes every file whose name starts so',
    law: 15,
    says: /open\("000005.ldb.1"\) returns undefined/,
    folder: class extends RightFolder {
      override async delete(name: string): Promise<void> {
        for (const other of [...this.disk.files.keys()]) if (other.startsWith(name)) await super.delete(other);
      }
    },
  },
  {
    fault: 'frees the memory of a deleted file under its readers',
    law: 15,
    says: /which was opened before/,
    folder: class extends RightFolder {
      override async delete(name: string): Promise<void> {
        this.disk.files.get(name)?.bytes.fill(0);
        return super.delete(name);
      }
    },
  },
  // 16. The list after changes
  {
    fault: 'still lists files that were deleted',
    law: 16,
    says: /after all files were deleted/,
    folder: class extends RightFolder {
      #deleted = new Set<string>();

      override async delete(name: string): Promise<void> {
        this.#deleted.add(name);
        return super.delete(name);
      }

      override async list(): Promise<readonly string[]> {
        return [...new Set([...(await super.list()), ...this.#deleted])];
      }
    },
  },
  {
    fault: 'lists a file only when it was closed',
    law: 16,
    says: /while a file is written/,
    folder: class extends RightFolder {
      #open = new Set<string>();

      protected override writer(contents: Contents, name: string): WritableFile {
        this.#open.add(name);
        return { ...super.writer(contents, name), close: () => void this.#open.delete(name) };
      }

      override async list(): Promise<readonly string[]> {
        return (await super.list()).filter((name) => !this.#open.has(name));
      }
    },
  },
  {
    fault: 'returns an array of names that it changes later',
    law: 16,
    says: /the array that list\(\) returned changes/,
    folder: class extends RightFolder {
      readonly #names: string[] = [];

      override async list(): Promise<readonly string[]> {
        const names = await super.list();
        this.#names.splice(0, Infinity, ...names);
        return this.#names;
      }
    },
  },
  // 17. What is missing
  {
    fault: 'reports what is missing without the code ENOENT',
    law: 17,
    says: /rename\("000001.dbtmp", "CURRENT"\) fails with an error other than ENOENT/,
    folder: class extends RightFolder {
      protected override mustHave(name: string): Contents {
        const contents = this.disk.files.get(name);
        if (contents === undefined) throw new Error(`there is no file ${name}`);
        return contents;
      }
    },
  },
  {
    fault: 'creates a file that is opened for appending and missing',
    law: 17,
    says: /openForAppend\("000001.log"\) returns a file although there was none/,
    folder: class extends RightFolder {
      override async openForAppend(name: string): Promise<WritableFile | undefined> {
        return this.disk.files.has(name) ? super.openForAppend(name) : this.create(name);
      }
    },
  },
  {
    fault: 'deletes the file of the new name although there is none to rename',
    law: 17,
    says: /open\("CURRENT"\) returns undefined/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        if (!this.disk.files.has(from)) await this.delete(to);
        return super.rename(from, to);
      }
    },
  },
  {
    fault: 'renames nothing without an error',
    law: 17,
    says: /rename\("000001.dbtmp", "CURRENT"\) succeeds/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        if (this.disk.files.has(from)) return super.rename(from, to);
      }
    },
  },
  // 18. Names
  {
    fault: 'keeps no more than eight characters of the first part of a name',
    law: 18,
    says: /"18446744073709551615.ldb".*next to files with similar names/s,
    folder: class extends RightFolder {
      #short(name: string): string {
        return name.replace(/^(1844674407370955161)\d?(\.ldb)$/, '$1$2');
      }

      override async open(name: string): Promise<FolderFile | undefined> {
        return super.open(this.#short(name));
      }

      override create(name: string): Promise<WritableFile> {
        return super.create(this.#short(name));
      }
    },
  },
  {
    fault: 'creates files outside of the folder',
    law: 18,
    says: /create\(".*"\) accepts a name that is not a plain file name/,
    folder: class extends RightFolder {
      override async create(name: string): Promise<WritableFile> {
        return name.startsWith('../') ? super.create('outside') : super.create(name);
      }
    },
  },
  // 19. Writers whose file was taken away
  {
    fault: 'opens a file anew for each append, and so brings back what was deleted',
    law: 19,
    says: /open\("000004.log"\) returns a file that was deleted, after it was written to/,
    folder: withWriter((file, contents, name, folder) => ({
      append(bytes) {
        if (!folder.disk.files.has(name)) {
          contents.names++;
          folder.disk.files.set(name, contents);
        }
        return file.append(bytes);
      },
    })),
  },
  {
    fault: 'appends by the name of the file, and so to the file that took its place',
    law: 19,
    says: /after the file that it took the place of was written to/,
    folder: withWriter((file, _, name, folder) => ({
      append(bytes) {
        const now = folder.disk.files.get(name);
        if (now === undefined) return file.append(bytes);
        now.bytes = joined(now.bytes, bytes);
      },
    })),
  },
  {
    fault: 'does not see that a file was deleted which is being written',
    law: 19,
    says: /check\(\) succeeds after the file was deleted/,
    folder: withWriter(() => ({ check: () => undefined })),
  },
  {
    fault: 'takes a sound file for one that was deleted',
    law: 19,
    says: /check\(\) fails of a file that nobody has touched/,
    folder: withWriter(() => ({
      check() {
        throw new Error('deleted');
      },
    })),
  },
  // 20. Closing what is written
  {
    fault: 'throws when a writer is closed again',
    law: 20,
    says: /a second close\(\) of a file that was written fails/,
    folder: withWriter(() => {
      let isClosed = false;
      return {
        close() {
          if (isClosed) throw new Error('EBADF: bad file descriptor');
          isClosed = true;
        },
      };
    }),
  },
  {
    fault: 'drops what was not synced when a file is closed',
    law: 20,
    says: /closed without sync/,
    folder: withWriter((file, contents) => {
      return {
        close() {
          contents.bytes = contents.synced;
          return file.close();
        },
      };
    }),
  },
  {
    fault: 'cannot sync a file that is empty',
    law: 20,
    says: /sync\(\) of a file that is empty fails/,
    folder: withWriter((file, contents) => ({
      sync() {
        if (contents.bytes.length === 0) throw new Error('EINVAL: nothing to sync');
        return file.sync();
      },
    })),
  },
  // 21. Calls at the same time
  {
    fault: 'loads its index, changes it and stores it, with others in between',
    law: 21,
    says: /which was written at the same time|deleted at the same time|renamed at the same time|returns undefined|fails/,
    folder: class extends RightFolder {
      override async delete(name: string): Promise<void> {
        const files = new Map(this.disk.files);
        await pause();
        await pause();
        const contents = files.get(name);
        if (contents !== undefined) contents.names--;
        files.delete(name);
        this.disk.files = files;
      }
    },
  },
  // 22. The folder itself
  {
    fault: 'refuses to create a folder that is there',
    law: 22,
    also: [23],
    says: /createFolder\(\) of a folder that is there fails/,
    folder: class extends RightFolder {
      override async createFolder(): Promise<void> {
        if (this.disk.exists) throw new Error('EEXIST: folder already exists');
        return super.createFolder();
      }
    },
  },
  {
    fault: 'removes a folder with its files',
    law: 22,
    says: /returns undefined/,
    folder: class extends RightFolder {
      override async removeFolder(): Promise<void> {
        this.disk.files.clear();
        return super.removeFolder();
      }
    },
  },
  {
    fault: 'throws for a folder that is not empty',
    law: 22,
    says: /removeFolder\(\) of a folder with a file fails/,
    folder: class extends RightFolder {
      override async removeFolder(): Promise<void> {
        if (this.disk.files.size > 0) throw new Error('ENOTEMPTY: directory not empty');
        return super.removeFolder();
      }
    },
  },
  {
    fault: 'cannot list a folder that is missing, and does not say that it is missing',
    law: 22,
    says: /list\(\) fails with an error other than ENOENT before the folder was created/,
    folder: class extends RightFolder {
      override async list(): Promise<readonly string[]> {
        if (!this.disk.exists) throw new TypeError("Cannot read properties of undefined (reading 'names')");
        return super.list();
      }
    },
  },
  // 23. lost
  {
    fault: 'keeps lost files in the folder itself',
    law: 23,
    says: /./,
    folder: class extends RightFolder {
      override lostFolder(): WritableFolder {
        return this;
      }

      override async moveToLost(name: string, as: string): Promise<void> {
        return this.rename(name, as);
      }
    },
  },
  {
    fault: 'copies a file to lost, and leaves it where it is',
    law: 23,
    says: /open\("000003.log"\) returns a file after it was moved/,
    folder: class extends RightFolder {
      override async moveToLost(name: string, as: string): Promise<void> {
        this.disk.lost!.files.set(as, this.mustHave(name));
      }
    },
  },
  {
    fault: 'forgets what is in lost',
    law: 23,
    says: /./,
    folder: class extends RightFolder {
      override lostFolder(): WritableFolder {
        this.disk.lost = new Disk();
        return this.another(this.disk.lost);
      }
    },
  },
  // 24. The lock
  {
    fault: 'returns its lock to everybody',
    law: 24,
    says: /lock\(\) succeeds while the lock is held/,
    folder: class extends RightFolder {
      override lock(): FolderLock {
        return { release: () => undefined };
      }
    },
  },
  {
    fault: 'keeps its lock in the object, not in the place',
    law: 24,
    says: /lock\(\) succeeds while the lock is held/,
    folder: class extends RightFolder {
      #lock: object | undefined;

      override lock(): FolderLock {
        if (this.#lock !== undefined) throw new DatabaseError('BLOOM_LOCKED', 'locked');
        const lock = { release: () => void (this.#lock = undefined) };
        this.#lock = lock;
        return lock;
      }
    },
  },
  {
    fault: 'ends the lock when another attempt is refused',
    law: 24,
    says: /lock\(\) succeeds while the lock is held/,
    folder: class extends RightFolder {
      override lock(): FolderLock | Promise<FolderLock> {
        try {
          return super.lock();
        } catch (error) {
          this.disk.lock = undefined;
          throw error;
        }
      }
    },
  },
  {
    fault: 'never ends a lock',
    law: 24,
    says: /lock\(\) after release\(\) fails/,
    folder: class extends RightFolder {
      override async lock(): Promise<FolderLock> {
        await super.lock();
        return { release: () => undefined };
      }
    },
  },
  {
    fault: 'ends the lock of the next holder when one is released twice',
    law: 24,
    says: /after the first was released again/,
    folder: class extends RightFolder {
      override async lock(): Promise<FolderLock> {
        await super.lock();
        return { release: () => void (this.disk.lock = undefined) };
      }
    },
  },
  {
    fault: 'refuses a lock with an error of its own',
    law: 24,
    says: /fails with an error other than BLOOM_LOCKED while the lock is held/,
    folder: class extends RightFolder {
      override lock(): FolderLock | Promise<FolderLock> {
        if (this.disk.lock !== undefined) throw new Error('busy');
        return super.lock();
      }
    },
  },
  // 25. Pinned folders
  {
    fault: 'pins an empty copy of the folder',
    law: 25,
    says: /returns undefined/,
    folder: class extends RightFolder {
      override pin(): PinnedFolder {
        const disk = new Disk();
        disk.exists = true;
        return Object.assign(this.another(disk), { unpin: () => undefined });
      }
    },
  },
  {
    fault: 'cannot be pinned again',
    law: 25,
    says: /pin\(\) after unpin\(\) fails/,
    folder: class extends RightFolder {
      #isPinned = false;

      override pin(): PinnedFolder | Promise<PinnedFolder> {
        if (this.#isPinned) throw new Error('the folder is pinned');
        this.#isPinned = true;
        return super.pin();
      }
    },
  },
  // 26. Identities of files that change
  {
    fault: 'takes the name of a file for the file, and its length for its state',
    law: 26,
    says: /has the identity that it had before it was replaced by create\(\)/,
    folder: class extends RightFolder {
      protected override identity(contents: Contents): FileIdentity {
        return { file: 'a file', state: contents.bytes.length, isSettled: true };
      }
    },
  },
  {
    fault: 'returns a file that has grown the identity that it had',
    law: 26,
    says: /before it has grown/,
    folder: class extends RightFolder {
      protected override identity(contents: Contents): FileIdentity {
        return { file: contents, state: 0, isSettled: true };
      }
    },
  },
  // 27. Other objects
  {
    fault: 'has a place of its own for each object',
    law: 27,
    says: /place\(\) of another object/,
    folder: class extends RightFolder {
      readonly #place = String(Math.random());

      place(): string {
        return this.#place;
      }
    },
  },
  {
    fault: 'keeps its own list of the files, made when it is first needed',
    law: 27,
    also: [23],
    says: /of another object|another object/,
    folder: class extends RightFolder {
      #names: Set<string> | undefined;

      override async list(): Promise<readonly string[]> {
        this.#names ??= new Set(await super.list());
        return [...this.#names];
      }

      override async create(name: string): Promise<WritableFile> {
        const file = await super.create(name);
        this.#names?.add(name);
        return file;
      }

      override async rename(from: string, to: string): Promise<void> {
        await super.rename(from, to);
        this.#names?.delete(from);
        this.#names?.add(to);
      }

      override async moveToLost(name: string, as: string): Promise<void> {
        await super.moveToLost(name, as);
        this.#names?.delete(name);
      }

      override async delete(name: string): Promise<void> {
        await super.delete(name);
        this.#names?.delete(name);
      }
    },
  },
  // 28. Bytes in a power cut
  {
    fault: 'syncs nothing once a file has its first bytes on disk',
    law: 28,
    says: /"000004.log" has 900 bytes after a power cut, and 70900 were synced/,
    folder: withWriter((file, contents) => ({
      sync() {
        if (contents.synced.length === 0) return file.sync();
      },
    })),
  },
  {
    fault: 'returns from sync before the bytes are on disk',
    law: 28,
    says: /after a power cut/,
    folder: withWriter((file) => ({
      sync() {
        void pause().then(() => file.sync());
      },
    })),
  },
  // 29. Names in a power cut
  {
    fault: 'does not sync that files were deleted',
    law: 29,
    says: /a file that was deleted before syncFolder\(\) is back after a power cut/,
    folder: class extends RightFolder {
      override async syncFolder(): Promise<void> {
        const before = this.disk.synced;
        await super.syncFolder();
        const obsolete = before.get('000001.ldb');
        if (obsolete !== undefined) this.disk.synced.set('000001.ldb', obsolete);
      }
    },
  },
  {
    fault: 'syncs only the first time',
    law: 29,
    says: /is not what it was after a power cut/,
    folder: class extends RightFolder {
      override async syncFolder(): Promise<void> {
        if (this.disk.synced.size === 0) await super.syncFolder();
      }
    },
  },
  // 30. Renames in a power cut
  {
    fault: 'deletes the file of the new name on disk before it renames the other',
    law: 30,
    says: /is gone after a power cut/,
    folder: class extends RightFolder {
      override async rename(from: string, to: string): Promise<void> {
        await super.rename(from, to);
        this.disk.synced.delete(to);
      }
    },
  },
];

describe('a folder that', () => {
  test.each(faults)('$fault breaks law $law', async ({ law, also = [], says, folder }) => {
    const found = await broken(() => new folder(), law);
    expect(found.says).toMatch(says);
    expect(found.laws).toEqual([law, ...also].sort((a, b) => a - b));
  });
});

test('every law is broken by some folder', () => {
  const numbers = folderLaws(() => new RightFolder(), OPTIONS).map(({ name }) => parseInt(name, 10));
  expect([...new Set(faults.map(({ law }) => law))].sort((a, b) => a - b)).toEqual(numbers);
});
