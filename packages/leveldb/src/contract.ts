/**
 * The laws of `folder.ts` and `writable-folder.ts`, as checks that any test runner can run: for a folder of your own, in which
 * a database is to be kept.
 *
 * Each law gets new folders and calls them as readers and databases do: it names files as LevelDB does, lends bytes at odd
 * offsets of arrays that are used again, keeps files open while the folder changes, and calls at the same time what a database
 * calls at the same time. A call that does not settle within `patienceMs` breaks the law.
 *
 * The laws cannot see these faults:
 *
 * - what is lost when the power fails, unless `cutPower` simulates it;
 * - what another process does or sees, beyond what another object for the same place, `again`, shows in this one;
 * - what only large files, many files, full disks or denied permissions show;
 * - `startTableThread`, and a pinned folder whose place is taken by another.
 *
 * In which order files and folder are synced is the database's duty, and is tested with it.
 *
 * @example
 * ```ts
 * import { folderLaws } from '@bloom/leveldb/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of folderLaws(() => new MyFolder())) test(law.name, law.run);
 * ```
 */
import { mustBeFunction, mustBeOptions, mustBeWhole } from '@bloom/bytes';
import { LawRun } from './contract/law-run.js';
import { absentFiles } from './contract/laws/absent-files.js';
import { appendedBytes } from './contract/laws/appended-bytes.js';
import { appendingAgain } from './contract/laws/appending-again.js';
import { changedIdentities } from './contract/laws/changed-identities.js';
import { changingList } from './contract/laws/changing-list.js';
import { closedFiles } from './contract/laws/closed-files.js';
import { closedWriters } from './contract/laws/closed-writers.js';
import { createdOver } from './contract/laws/created-over.js';
import { deletedFiles } from './contract/laws/deleted-files.js';
import { folderItself } from './contract/laws/folder-itself.js';
import { identities } from './contract/laws/identities.js';
import { lentBytes } from './contract/laws/lent-bytes.js';
import { listedNames } from './contract/laws/listed-names.js';
import { lock } from './contract/laws/lock.js';
import { lostFolder } from './contract/laws/lost-folder.js';
import { missingFiles } from './contract/laws/missing-files.js';
import { openReaders } from './contract/laws/open-readers.js';
import { openedFiles } from './contract/laws/opened-files.js';
import { orphanedWriters } from './contract/laws/orphaned-writers.js';
import { otherObjects } from './contract/laws/other-objects.js';
import { pinnedFolder } from './contract/laws/pinned-folder.js';
import { plainNames } from './contract/laws/plain-names.js';
import { renameInPowerCut, syncedBytes, syncedNames } from './contract/laws/power-cuts.js';
import { renamedFiles } from './contract/laws/renamed-files.js';
import { returnedBytes } from './contract/laws/returned-bytes.js';
import { simultaneousCalls } from './contract/laws/simultaneous-calls.js';
import { simultaneousReads } from './contract/laws/simultaneous-reads.js';
import { syncReads } from './contract/laws/sync-reads.js';
import { FOLDER_LAWS_OPTIONS, type FolderLawsOptions, READ_FOLDER_LAWS_OPTIONS, type ReadFolderLawsOptions } from './contract/options.js';
import type { ReadingPlace, WritingPlace } from './contract/places.js';
import { type Folder, mustBeFolder } from './folder/folder.js';
import { mustBeWritable, type WritableFolder } from './folder/writable-folder.js';

export { FolderLawError } from './contract/folder-law-error.js';
export type { FolderLawsOptions, ReadFolderLawsOptions } from './contract/options.js';

/** One law, ready to be a test. */
export interface FolderLaw {
  /** The law's number, and what it demands. */
  readonly name: string;
  /** Rejects with a `FolderLawError` when the folder breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => Promise<void>;
}

const PATIENCE_MS = 10_000;

/** A law works with folders of any one kind. */
type ReadingLaw = readonly [name: string, law: (run: LawRun, place: ReadingPlace) => Promise<void>];
type WritingLaw = readonly [name: string, law: <Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>) => Promise<void>];

const READING: readonly ReadingLaw[] = [
  ['1. a file that is opened has its length, and is read in pieces at any offset', openedFiles],
  ['2. bytes that were read never change', returnedBytes],
  ['3. there is no file, and no error, under a name that no file has, or that is no plain file name', absentFiles],
  ['4. the list has the name of each file once', listedNames],
  ['5. closing a file ends that file alone, and closing it again does nothing', closedFiles],
  ['6. reads at the same time do not disturb each other', simultaneousReads],
  ['7. what is read without a promise is the same', syncReads],
  ['8. the identity that the folder tells of a file is that of the file that it opens', identities],
];

const WRITING: readonly WritingLaw[] = [
  ['9. what was appended can be read at once, in order and whole, before it is synced', appendedBytes],
  ['10. append keeps nothing that it was lent, and does not change it', lentBytes],
  ['11. a file that is open for reading stays as it was when it was opened, while it grows', openReaders],
  ['12. a file that is opened for appending continues at its end', appendingAgain],
  ['13. a file that is created is empty, and replaces one of its name', createdOver],
  ['14. a file that is renamed replaces one of the new name at once', renamedFiles],
  ['15. a file that is deleted is gone, and no other; deleting none is no error', deletedFiles],
  ['16. the list follows each creation, renaming and deletion', changingList],
  ['17. a file that is missing is reported as missing, and not created', missingFiles],
  ['18. each name is a file of its own, and other than plain file names are refused', plainNames],
  ['19. what is written to a file that was deleted, replaced or renamed gets into no other file', orphanedWriters],
  ['20. a file that is written can be synced again, closed again, and closed unsynced', closedWriters],
  ['21. calls at the same time do not disturb each other', simultaneousCalls],
  ['22. the folder is created unless it is there, removed only when it is empty, and missing in between', folderItself],
  ['23. lost is a folder of its own, into which files are moved', lostFolder],
  ['24. the lock has one holder until it is released', lock],
  ['25. a pinned folder has the files of the folder', pinnedFolder],
  ['26. a file that was changed or replaced has another identity', changedIdentities],
  ['27. another object for the same place sees every change at once', otherObjects],
  ['28. what was synced survives a power cut', syncedBytes],
  ['29. names survive a power cut once the folder was synced', syncedNames],
  ['30. after a power cut a renaming has happened or not', renameInPowerCut],
];

/** Laws that need something of the caller, and are left out without it. */
const NEEDS_AGAIN = new Set([otherObjects]);
const NEEDS_POWER_CUTS = new Set([syncedBytes, syncedNames, renameInPowerCut]);

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

  return [...READING, ...WRITING]
    .filter(([, law]) => (again !== undefined || !NEEDS_AGAIN.has(law)) && (cutPower !== undefined || !NEEDS_POWER_CUTS.has(law)))
    .map(([name, law]) =>
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
          again: again && ((of) => run.call('again()', () => again(of))),
          cutPower: cutPower && ((of) => run.call('cutPower()', () => cutPower(of))),
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

  return READING.map(([name, law]) =>
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

/** @param use runs the law, and notes the folders that it makes. */
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
      try {
        await use(run, made);
      } finally {
        await run.end();
        for (const folder of made) await dispose?.(folder);
      }
    },
  };
}
