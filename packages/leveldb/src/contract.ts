/**
 * The laws of `folder.ts` and `writable-folder.ts`, as checks that any test runner can run: for a folder of your own, in which
 * a database is to be stored.
 *
 * Each law gets new folders and calls them as readers and databases do: it names files as LevelDB does, passes bytes at odd offsets of arrays
 * that are reused, keeps files open while the folder changes, and makes the concurrent calls that a database makes. A call that does not settle
 * within `patienceMs` breaks the law.
 *
 * The laws cannot detect these faults:
 *
 * - what is lost when the power fails, unless `cutPower` simulates it;
 * - what another process does or sees, beyond what another object for the same place, `again`, shows in this one;
 * - what only large files, many files, full disks or denied permissions show;
 * - `startTableThread`, and a pinned folder whose place is taken by another.
 *
 * The order in which files and folder are synced is the database's responsibility, and is tested with it.
 *
 * @example
 * ```ts
 * import { folderLaws } from '@bloom/leveldb/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of folderLaws(() => new MyFolder())) test(law.name, law.run);
 * ```
 */
import { mustBeFunction, mustBeOptions, mustBeWhole } from '@bloom/bytes/internal';
import { FILE_LAWS } from './contract/file-laws.js';
import { FOLDER_LAWS, OTHER_OBJECT_LAWS } from './contract/folder-laws.js';
import { LawRun } from './contract/law-run.js';
import { FOLDER_LAWS_OPTIONS, type FolderLawsOptions, READ_FOLDER_LAWS_OPTIONS, type ReadFolderLawsOptions } from './contract/options.js';
import { POWER_CUT_LAWS } from './contract/power-cut-laws.js';
import { READING_LAWS } from './contract/reading-laws.js';
import { type Folder, mustBeFolder } from './folder/folder.js';
import { mustBeWritable, type WritableFolder } from './folder/writable-folder.js';

export { FolderLawError } from './contract/folder-law-error.js';
export type { FolderLawsOptions, ReadFolderLawsOptions } from './contract/options.js';

/** One law, ready to be a test. */
export interface FolderLaw {
  /** The law's number and its claim. */
  readonly name: string;
  /** Rejects with a `FolderLawError` when the folder breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => Promise<void>;
}

const PATIENCE_MS = 10_000;

/**
 * The laws of a folder that a database is written to, for the folders that `makeFolder` makes.
 *
 * @param makeFolder makes a folder in a new place at each call. The place is empty, and need not exist yet.
 * @throws TypeError for arguments of the wrong type, RangeError for a `patienceMs` below 1.
 */
export function folderLaws<Kind extends WritableFolder>(makeFolder: () => Kind | Promise<Kind>, options: FolderLawsOptions<Kind> = {}): FolderLaw[] {
  mustBeFunction('makeFolder', makeFolder);
  mustBeOptions('folderLaws', options, FOLDER_LAWS_OPTIONS);
  const { again, cutPower, dispose, patienceMs = PATIENCE_MS } = options;
  for (const [name, value] of Object.entries({ again, cutPower, dispose })) if (value !== undefined) mustBeFunction(name, value);
  mustBeWhole('patienceMs', patienceMs, 1);

  return [...READING_LAWS, ...FILE_LAWS, ...FOLDER_LAWS, ...(again === undefined ? [] : OTHER_OBJECT_LAWS), ...(cutPower === undefined ? [] : POWER_CUT_LAWS)].map(
    ([name, law]) =>
      lawOf(name, patienceMs, dispose, async (run, made) => {
        const newFolder = async (): Promise<Kind> => {
          const folder = await run.call('makeFolder()', makeFolder);
          mustBeWritable(folder);
          made.push(folder);
          return folder;
        };
        const folder = async (): Promise<Kind> => {
          const created = await newFolder();
          await run.call('createFolder()', () => created.createFolder());
          return created;
        };
        await law(run, {
          newFolder,
          folder,
          async folderWith(files) {
            const created = await folder();
            for (const [file, bytes] of files) await run.put(created, file, bytes);
            return created;
          },
          again: again && ((of) => run.call('again()', () => again(of as Kind))),
          cutPower: cutPower && ((of) => run.call('cutPower()', () => cutPower(of as Kind))),
        });
      }),
    );
}

/**
 * The laws of a folder that is only read, for the folders that `makeFolder` makes.
 *
 * @param makeFolder makes a folder with exactly these files.
 * @throws TypeError for arguments of the wrong type, RangeError for a `patienceMs` below 1.
 */
export function readFolderLaws<Kind extends Folder>(
  makeFolder: (files: ReadonlyMap<string, Uint8Array>) => Kind | Promise<Kind>,
  options: ReadFolderLawsOptions<Kind> = {},
): FolderLaw[] {
  mustBeFunction('makeFolder', makeFolder);
  mustBeOptions('readFolderLaws', options, READ_FOLDER_LAWS_OPTIONS);
  const { dispose, patienceMs = PATIENCE_MS } = options;
  if (dispose !== undefined) mustBeFunction('dispose', dispose);
  mustBeWhole('patienceMs', patienceMs, 1);

  return READING_LAWS.map(([name, law]) =>
    lawOf(name, patienceMs, dispose, async (run, made) => {
      await law(run, {
        async folderWith(files) {
          const folder = await run.call('makeFolder()', () => makeFolder(files));
          mustBeFolder(folder);
          made.push(folder);
          return folder;
        },
      });
    }),
  );
}

/** @param use runs the law, and records the folders that it makes. */
function lawOf<Kind extends Folder>(
  name: string,
  patienceMs: number,
  dispose: ((folder: Kind) => void | Promise<void>) | undefined,
  use: (run: LawRun, made: Kind[]) => Promise<void>,
): FolderLaw {
  return {
    name,
    async run() {
      const run = new LawRun(name, patienceMs);
      const made: Kind[] = [];
      const failures: unknown[] = [];
      const attempt = async (work: () => void | Promise<void>): Promise<void> => {
        try {
          await work();
        } catch (error) {
          failures.push(error);
        }
      };
      await attempt(() => use(run, made));
      await run.end();
      for (const folder of made) await attempt(() => dispose?.(folder));
      if (failures.length > 0) throw failures[0];
    },
  };
}
