import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import { EXIT } from '../exit-codes.js';
import { Failure, isUrl } from '../failure.js';
import { note } from '../outputs/output.js';

/** A module named on the command line, and the export that is named after `#`. */
export interface ImportedModule {
  /** The argument as given, for messages, without secrets of a URL. */
  readonly given: string;
  readonly exports: Readonly<Record<string, unknown>>;
  /** The named export; undefined if none was named. */
  readonly exportName: string | undefined;
}

/** A path, as opposed to the name of a package. */
const PATH = /^(?:\.{0,2}[/\\]|[a-z]:[/\\]|file:)/i;
/** Files that Node can load as a module. Other paths are names of packages. */
const MODULE_FILE = /\.[cm]?[jt]s$/;

/**
 * Imports a module: a file by its path from the current folder, or a package that is installed there or next to `bloom`.
 *
 * @param argument `MODULE` or `MODULE#EXPORT`.
 * @param kind names an example of a file.
 * @param ownNames names that `bloom` itself has, for the message.
 * @throws Failure when it cannot be loaded.
 */
export async function importModule(argument: string, kind: string, ownNames: readonly string[] = []): Promise<ImportedModule> {
  const hash = argument.lastIndexOf('#');
  const name = hash < 0 ? argument : argument.slice(0, hash);
  const exportName = hash < 0 ? undefined : argument.slice(hash + 1);
  const given = shownModule(argument);
  if (name === '' || exportName === '') throw new Failure(`${given || '""'}: must be MODULE or MODULE#EXPORT, for example ./${kind}.mjs or @bloom/codecs#zlibCodec`);
  const isFile = PATH.test(name) || (MODULE_FILE.test(name) && existsSync(name));
  const specifier = isFile && !name.startsWith('file:') ? pathToFileURL(resolve(name)).href : name;
  try {
    return { given, exports: await unlessProcessEnds(given, importFrom(specifier, isFile)), exportName };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(`${given}: ${problemOf(error, isFile, kind, ownNames)}`, { cause: error });
  }
}

/**
 * The exports of a module that is being imported.
 *
 * @throws Failure when the module awaits something that cannot happen any more. Node would end the process with the exit code of success.
 */
async function unlessProcessEnds<T>(given: string, importing: Promise<T>): Promise<T> {
  let fail!: () => void;
  const ended = new Promise<never>((_, reject) => {
    fail = () => {
      reject(new Failure(`${given}: cannot be imported: it awaits something that never happens`));
    };
  });
  const refuseExit = (): void => {
    // A failure that was printed.
    if (process.exitCode === EXIT.failure) return;
    process.exitCode = EXIT.failure;
    note(`${given}: cannot be imported: it ends the process`, 'red');
  };
  process.once('beforeExit', fail).once('exit', refuseExit);
  try {
    return await Promise.race([importing, ended]);
  } finally {
    process.off('beforeExit', fail).off('exit', refuseExit);
  }
}

async function importFrom(specifier: string, isFile: boolean): Promise<Record<string, unknown>> {
  try {
    return await importerIn(process.cwd())(specifier);
  } catch (error) {
    // A package that is installed globally, like `bloom` itself.
    if (isFile || !isMissing(error)) throw error;
    return importerIn(__dirname)(specifier);
  }
}

/**
 * `import` as a file of that folder would do it. `require.resolve` would not find packages that are only for `import`, and
 * `import.meta.resolve` takes another folder only with a flag of Node.
 */
function importerIn(folder: string): (specifier: string) => Promise<Record<string, unknown>> {
  const script = new Script('(specifier) => import(specifier)', {
    filename: resolve(folder, 'bloom.js'),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const importer = script.runInThisContext() as (specifier: string) => Promise<Record<string, unknown>>;
  return (specifier) => withoutExperimentalWarning(() => importer(specifier));
}

/** Node warns once that the constant above is experimental, which does not concern users of `bloom`. */
function withoutExperimentalWarning<T>(work: () => T): T {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (rest[0] !== 'ExperimentalWarning') Reflect.apply(emitWarning, undefined, [warning, ...rest]);
  };
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A module as named on the command line, without user, password and query of a URL. */
export function shownModule(given: string): string {
  return isUrl(given) ? given.replace(/(?<=^[^/]*:\/\/)[^/?#]*@|\?[^#]*/gs, '') : given;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ERR_MODULE_NOT_FOUND';
}

function problemOf(error: unknown, isFile: boolean, kind: string, ownNames: readonly string[]): string {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (isMissing(error)) {
    // The module itself is missing, or one that it imports.
    const [, missing] = /^Cannot find (?:module|package) '([^']+)'/.exec((error as Error).message) ?? [];
    if (isFile) return missing === undefined ? message : `no such module, or it imports one that is not installed: ${missing}`;
    const own = ownNames.length === 0 ? '' : `is not one of ${ownNames.join(', ')}, and `;
    return `${own}no package of this name is installed here or next to bloom: install it in this folder, or name a file by its path, such as ./${kind}.mjs`;
  }
  if (codeOf(error) === 'ERR_UNKNOWN_FILE_EXTENSION') return `this version of Node (${process.version}) cannot import it: name a .js or .mjs file`;
  return `cannot be imported: ${message}`;
}
