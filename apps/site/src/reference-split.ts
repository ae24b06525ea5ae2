/**
 * Splits TypeDoc's pages, one for each entry point, into pages of readable height: large classes get their own pages, and other exports
 * share pages.
 */

/** The height that a page may have, in pixels of a window of 1,280; by an estimate, which a test compares with Chromium. */
const MAX_HEIGHT = 5400;
const CHARACTERS_PER_LINE = 78;
/** The estimated width of a table cell in characters. */
const CHARACTERS_PER_CELL = 42;

/** An export, such as a class: its section from its heading on. */
interface Item {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
}

/** A page: its path without `.md`, below the folder of the reference. */
interface Page {
  readonly path: string;
  readonly text: string;
}

/** Columns of tables that do not matter for the use of a member. */
const DROPPED_COLUMNS = ['Inherited from', 'Overrides', 'Implementation of'];

/** A table without such columns, and without defaults that are all undefined. */
function compactTable(table: string): string {
  const rows = table.trimEnd().split('\n').map((row) => row.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim()));
  const isKept = rows[0]!.map((name, i) => !DROPPED_COLUMNS.includes(name) && !(name === 'Default value' && rows.slice(2).every((row) => ['`undefined`', '‐', ''].includes(row[i]!))));
  return rows.map((row) => `| ${row.filter((_, i) => isKept[i]).join(' | ')} |\n`).join('');
}

/** The page without redundant parts, and with small parts in one line each instead of below a heading. */
function compact(text: string): string {
  return text
    // Some functions have the fragment that the name of their entry point would get.
    .replace(/^# @.*$/m, '$& {#entry-point}')
    .replace(/^#{4,} (?:Inherited from|Overrides|Implementation of)\n\n(?:.+\n)+/gm, '')
    .replace(/^#{4,} (?:Get|Set|Call|Constructor) Signature\n\n/gm, '')
    .replace(/^#{5,} (?:Parameters|Type Parameters|Example)\n\n/gm, '')
    .replace(/^#{5,} (Returns|Throws)\n\n/gm, '**$1** ')
    .replace(/^(> .*)\n\nDefined in: \[.*\](\(\S*\))$/gm, '$1 [source]$2')
    .replace(/^\*\*\*\n\n/gm, '')
    .replace(/(?:^\|.*\|\n)+/gm, compactTable)
    .replace(/\n{3,}/g, '\n\n');
}

function visible(line: string): string {
  return line.replace(/\]\([^)]*\)/g, ']').replace(/&lt;|&gt;/g, '<').replace(/ \{#[^}]*\}/g, '');
}

/** The estimated height of a text in pixels. */
function heightOf(text: string): number {
  let height = 0;
  let isCode = false;
  for (const line of text.split('\n')) {
    const lines = Math.max(1, Math.ceil(visible(line).length / CHARACTERS_PER_LINE));
    if (line.startsWith('```')) {
      isCode = !isCode;
      height += 36;
    } else if (isCode) height += 22;
    else if (line === '') height += 16;
    else if (line.startsWith('#')) height += 68;
    else if (line.startsWith('|')) height += 18 + 24 * Math.max(...line.split('|').map((cell) => Math.ceil(visible(cell).length / CHARACTERS_PER_CELL)));
    else height += 28 * lines;
  }
  return height;
}

function itemsOf(text: string): { intro: string; items: Item[] } {
  const [intro = '', ...kinds] = text.split(/^(?=## )/m);
  const items = kinds.flatMap((section) => {
    const kind = /^## (.+)/.exec(section)![1]!;
    return section
      .split(/^(?=### )/m)
      .slice(1)
      .map((part) => ({ kind, name: /^### ([^\n{(]+?)(?:\(\))? *(?:\{|\n)/.exec(part)![1]!.replaceAll('\\', '').trim(), text: part }));
  });
  return { intro, items };
}

/** Groups parts in their order so that no group is too high, unless it is a single part. */
function grouped(parts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let height = Infinity;
  for (const part of parts) {
    const own = heightOf(part);
    if (height + own > MAX_HEIGHT) {
      groups.push([]);
      height = 0;
    }
    groups.at(-1)!.push(part);
    height += own;
  }
  return groups;
}

/** The pages of one large export. Members that do not fit on the first page are on further pages. */
function pagesOfItem(folder: string, { name, text }: Item): Page[] {
  const raised = text.replace(/^##(#+ )/gm, '$1');
  // Members have headings, or are the rows of a table.
  const [tableHead = ''] = /^\|.*\|\n\| -.*\|\n/m.exec(raised) ?? [];
  const hasRows = !/^### /m.test(raised);
  return grouped(raised.split(hasRows ? /^(?=\| <a )/m : /^(?=### )/m)).map((members, i) => ({
    path: `${folder}/${name}${i === 0 ? '' : `-${i + 1}`}`,
    text: `${i === 0 ? '' : `# ${name}, continued\n\n[The first members of \`${name}\`](/reference/${folder}/${name}.md)\n\n${hasRows ? tableHead : ''}`}${members.join('')}`,
  }));
}

/** The pages of one entry point. The first page lists the exports. */
function pagesOfEntryPoint(path: string, text: string): { pages: Page[]; lists: (placeOf: (item: string) => string) => string } {
  const { intro, items } = itemsOf(text);
  const large = items.filter((item) => heightOf(item.text) > MAX_HEIGHT / 3);
  const small = items.filter((item) => !large.includes(item));
  const kinds = [...new Set(small.map(({ kind }) => kind))];
  const pages = [
    ...large.flatMap((item) => pagesOfItem(path, item)),
    ...kinds.flatMap((kind) =>
      grouped(small.filter((item) => item.kind === kind).map((item) => item.text)).map((parts, i) => {
        const page = `${kind.toLowerCase().replaceAll(' ', '-')}${i === 0 ? '' : `-${i + 1}`}`;
        return { path: `${path}/${page}`, text: `# ${kind} of ${path}\n\n${parts.join('').replace(/^#(#+ )/gm, '$1')}` };
      }),
    ),
  ];
  const lists = (placeOf: (anchor: string) => string): string =>
    [...new Set(items.map(({ kind }) => kind))]
      .map((kind) => {
        const names = items.filter((item) => item.kind === kind).map((item) => `[\`${item.name}\`](${placeOf(/\{#([^}]+)\}/.exec(item.text)![1]!)})`);
        return `## ${kind}\n\n${names.join(', ')}\n`;
      })
      .join('\n');
  return { pages, lists: (placeOf) => `${intro}\n${lists(placeOf)}` };
}

/** A page with its settings: one without members needs no outline, and gets the room for its tables. */
function framed(text: string): string {
  return `---\npageClass: reference\n${/^### /m.test(text) ? '' : 'aside: false\n'}---\n\n${text}`;
}

/**
 * @param pages TypeDoc's pages, by their paths without `.md`
 * @returns all pages, by their paths without `.md`; links lead to the pages of their targets
 */
export function splitReference(pages: ReadonlyMap<string, string>): Map<string, string> {
  const entryPoints = [...pages].map(([path, whole]) => {
    const text = compact(whole);
    return heightOf(text) <= MAX_HEIGHT ? { path, pages: [{ path, text }], lists: undefined } : { path, ...pagesOfEntryPoint(path, text) };
  });
  /** Where each anchor of each of TypeDoc's pages is. */
  const places = new Map(entryPoints.map((of) => [of.path, new Map(of.pages.flatMap(({ path, text }) => [...text.matchAll(/\{#([^}]+)\}|<a id="([^"]+)">/g)].map(([, heading, row]) => [(heading ?? row)!, path] as const)))]));
  const placeOf = (entryPoint: string, anchor: string): string => `/reference/${places.get(entryPoint)?.get(anchor) ?? entryPoint}.md#${anchor}`;
  const found = new Map<string, string>();
  for (const { path: entryPoint, pages: parts, lists } of entryPoints) {
    const linked = (text: string): string =>
      text.replace(/(?<!\\)\]\((?![a-z]+:|[/)])([^)#]*)(?:#([^)]*))?\)/g, (_, file: string, anchor: string | undefined) => {
        const target = file === '' ? entryPoint : new URL(file, `file:///${entryPoint}`).pathname.slice(1).replace(/\.md$/, '');
        return `](${anchor === undefined ? `/reference/${target}.md` : placeOf(target, anchor)})`;
      });
    for (const { path, text } of parts) found.set(path, framed(linked(text)));
    if (lists !== undefined) found.set(entryPoint, framed(linked(lists((anchor) => placeOf(entryPoint, anchor)))));
  }
  return found;
}
