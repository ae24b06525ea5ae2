import { realpathSync, type Stats, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseFileName } from '@bloom/leveldb';
import { type Command, Option } from 'commander';
import { Failure, failureOf, isUrl, urlProblem } from '../failure.js';
import { locate, shownName } from '../inputs/location.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { interruptible } from '../interruption.js';
import { printLines } from '../outputs/output.js';

interface ExploreOptions {
  readonly port: number;
  readonly open: boolean;
}

/** The built page, which the build copies into the program's folder. */
const PAGE = join(__dirname, 'explorer');

export function addExplore(program: Command): void {
  program
    .command('explore')
    .summary('look at a database or table in the browser')
    .description('Opens the explorer on a folder or table in your browser: levels, blocks, filters, entries, and the path of a lookup. Serves the page and the files at an address that only this machine can reach, until Ctrl-C. Changes nothing.')
    .argument('<input>', "a database's folder, a table or a log")
    .addOption(new Option('--port <n>', 'the port to listen on').default(0, 'any that is free').argParser(wholeNumber(0, 65_535)))
    .option('--no-open', 'print the address, and open no browser')
    .addHelpText(
      'after',
      `
Examples:
  bloom explore path/to/database
  bloom explore capitals.ldb --no-open --port 8080`,
    )
    .action(explore);
}

async function explore(path: string, { port, open }: ExploreOptions): Promise<void> {
  if (path === '') throw new Failure('the name of the folder or file is empty');
  const location = locate(path);
  if (location.kind !== 'folder' && location.kind !== 'file' && location.kind !== 'log') throw new Failure(`${shownName(path)}: is not a folder or a file: explore reads those of this machine`);
  mustExist(path, `${path}: no such file or folder`);
  const isFolder = location.kind === 'folder';
  if (isFolder) mustExist(join(location.path, 'CURRENT'), `${path}: it has no CURRENT, so it is not a LevelDB database`);
  const { addressOf, serveExplorer } = await import('../explore/explorer-server.js');
  // The links of a folder are not followed, because they may lead to any file; a table is one that the user named.
  const inFolder = (name: string): string | undefined => (parseFileName(name) === undefined ? undefined : join(location.path, name));
  const table = isFolder ? undefined : realpathSync(path);
  const served = { page: PAGE, pathOf: isFolder ? inFolder : (name: string) => (name === basename(path) ? table : undefined) };
  await interruptible(async (signal) => {
    const server = await serveExplorer(served, port).catch((error: unknown) => {
      throw failureOf(`port ${port}`, error);
    });
    try {
      const address = `${addressOf(server)}#/${isFolder ? 'database?url=files/' : `table?url=files/${encodeURIComponent(encodeURIComponent(basename(path)))}`}`;
      await printLines([`${path}: ${address} until Ctrl-C`]);
      if (open) await openInBrowser(address);
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}

/** @throws Failure with `missing` unless there is such a file, and with the reason if the system does not say. */
function mustExist(path: string, missing: string): void {
  let stat: Stats | undefined;
  try {
    stat = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw failureOf(path, error);
  }
  if (stat === undefined) throw new Failure(isUrl(path) ? urlProblem(path) : missing);
}

/** Opens an address with the system's program for it. If there is none, the user still has the printed address. */
async function openInBrowser(address: string): Promise<void> {
  const { spawn } = await import('node:child_process');
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer.exe' : 'xdg-open';
  spawn(program, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
