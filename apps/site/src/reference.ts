import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { publishedPackages, root } from '@bloom/package-check/published-packages.js';
import { addressOf } from '@bloom/package-check/repository.js';
import { Application, type ProjectReflection } from 'typedoc';
import type { MarkdownApplication } from 'typedoc-plugin-markdown';
import { splitReference } from './reference-split.js';
import { plainMarkdown, repositoryText } from './repository.js';

/** The sources of the entry points, by the name in an import. */
function entryPoints(): Map<string, string> {
  const found = new Map<string, string>();
  for (const { folder, manifest } of publishedPackages()) {
    for (const [path, target] of Object.entries(manifest.exports)) {
      // Entry points for sibling packages are not public.
      if (path === './internal') continue;
      // If Node has its own entry point, the other one has the same interface.
      const source = (target as { readonly 'bloom-source'?: string })['bloom-source'];
      if (source !== undefined) found.set(join(folder, source), manifest.name + path.slice(1));
    }
  }
  return found;
}

/** The purpose of each entry point: the description of its package, or its row in the README's table of entry points. */
function purposes(): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, manifest } of publishedPackages()) {
    for (const [, name, purpose] of repositoryText(`${path}/README.md`).matchAll(/^\| `(@bloom\/[^`]+)` \| ([^|]+) \|/gm)) found.set(name!, plainMarkdown(purpose!));
    found.set(manifest.name, manifest.description ?? '');
  }
  return found;
}

/** Adds the purpose of the entry point below the title of each page, and writes a table of all. */
function addPurposes(folder: string, names: Iterable<string>): void {
  const found = purposes();
  const rows = [...names].sort().map((name) => {
    const purpose = found.get(name);
    const page = join(folder, `${name}.md`);
    const readme = `/packages/${name.split('/')[1]}/index.md`;
    if (purpose !== undefined) writeFileSync(page, readFileSync(page, 'utf8').replace(/^# .*\n/, (title) => `${title}\n${purpose}\n\nSee [the package](${readme}) for how it is used.\n`));
    return `| [\`${name}\`](./${name}.md) | ${purpose ?? ''} |`;
  });
  const intro = 'Everything that the packages export, by the name in an import: what it does, its parameters with their units, and what it throws.';
  writeFileSync(join(folder, 'index.md'), `# Reference\n\n${intro}\n\n| import | what is there |\n| --- | --- |\n${rows.join('\n')}\n`);
}

/** Gives each module the name by which it is imported. */
function nameModules(project: ProjectReflection, names: ReadonlyMap<string, string>): void {
  for (const module of project.children ?? []) {
    const source = module.sources?.[0]?.fullFileName;
    module.name = (source && names.get(source)) ?? module.name;
  }
}

/** Lowers the headings in comments, such as those of a contract's laws, below the heading of the described export. */
function lowerHeadings(project: ProjectReflection): void {
  for (const reflection of Object.values(project.reflections)) {
    for (const part of reflection.comment?.summary ?? []) if (part.kind === 'text') part.text = part.text.replace(/^##? /gm, '#### ');
  }
}

/** Removes the sources of declarations in other packages, which are not in the repository. */
function dropForeignSources(folder: string): void {
  for (const name of referencePages(folder)) {
    const page = join(folder, name);
    writeFileSync(page, readFileSync(page, 'utf8').replace(/^Defined in: \[node\\?_modules.*\n\n/gm, ''));
  }
}

/** Replaces TypeDoc's pages, one for each entry point, with pages of readable height. */
function splitPages(folder: string): void {
  const whole = new Map(referencePages(folder).map((name) => [name.replaceAll('\\', '/').replace(/\.md$/, ''), readFileSync(join(folder, name), 'utf8')]));
  for (const [path, text] of splitReference(whole)) {
    const file = join(folder, `${path}.md`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Writes the reference, a page or several for each entry point, into a folder. */
export async function writeReference(folder: string): Promise<void> {
  const names = entryPoints();
  const app = (await Application.bootstrapWithPlugins({
    entryPoints: [...names.keys()],
    tsconfig: join(import.meta.dirname, '../tsconfig.reference.json'),
    plugin: ['typedoc-plugin-markdown'],
    name: 'Reference',
    readme: 'none',
    router: 'module',
    outputs: [{ name: 'markdown', path: folder }],
    entryFileName: 'index.md',
    basePath: root,
    disableGit: true,
    sourceLinkTemplate: `${addressOf('packages/{path}', 'blob')}#L{line}`,
    gitRevision: 'main',
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    // Members of Error and EventEmitter are left out; those that BloomLevel inherits from AbstractLevel are not.
    externalPattern: ['**/node_modules/typescript/**', '**/node_modules/@types/node/**'],
    // The types are checked by `typecheck`.
    skipErrorChecking: true,
    logLevel: 'Error',
    validation: false,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useHTMLEncodedBrackets: true,
    useCustomAnchors: true,
    customAnchorsFormat: 'curlyBrace',
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    propertyMembersFormat: 'table',
    typeDeclarationFormat: 'list',
    tableColumnSettings: { hideModifiers: true, hideSources: true },
  } as Parameters<typeof Application.bootstrapWithPlugins>[0])) as MarkdownApplication;
  const project = await app.convert();
  if (project === undefined) throw new Error('the reference could not be made');
  nameModules(project, names);
  lowerHeadings(project);
  await app.generateOutputs(project);
  dropForeignSources(folder);
  addPurposes(folder, names.values());
  splitPages(folder);
}

/** The names of all entry points. */
export function entryPointNames(): string[] {
  return [...entryPoints().values()];
}

/** The pages of the reference below a folder, as paths from it. */
export function referencePages(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md') && basename(name) !== 'index.md');
}
