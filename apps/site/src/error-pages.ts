import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@bloom/package-check/published-packages.js';
import { addressOf } from '@bloom/package-check/repository.js';
import { packageDocuments } from './documents.js';
import { ERROR_HELP } from './error-help.js';
import { repositoryText } from './repository.js';

const EXAMPLE = `\`\`\`ts
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

try {
  const database = await Database.open(new WritableNodeFolder('words.db'));
  await database.close();
} catch (error) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'BLOOM_LOCKED') throw error;
  console.error('another program has the database open');
}
\`\`\``;

/** The meaning of a code in one package. */
interface Meaning {
  readonly package: string;
  readonly meaning: string;
  readonly remedy: string;
}

/** The codes in the documents of the packages, each with its meanings, in the order of their names. Tests compare the tables with the sources. */
export function errorCodes(): Map<string, Meaning[]> {
  const codes = new Map<string, Meaning[]>();
  for (const { name, documents } of packageDocuments()) {
    for (const row of documents.flatMap(({ path }) => repositoryText(path).split('\n'))) {
      if (!/^\| `(BLOOM|LEVEL)_/.test(row)) continue;
      const [, first = '', meaning = '', remedy = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim());
      for (const [code] of first.matchAll(/(BLOOM|LEVEL)_[A-Z_]+/g)) {
        codes.set(code, [...(codes.get(code) ?? []), { package: `@bloom/${name}`, meaning, remedy }]);
      }
    }
  }
  return new Map([...codes].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The sources that name a code, by path. */
function sourcesOf(): (code: string) => string[] {
  const texts = readdirSync(join(root, 'packages')).flatMap((name) => {
    const folder = `packages/${name}/src`;
    return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ path: `${folder}/${file.replaceAll('\\', '/')}`, text: readFileSync(join(root, folder, file), 'utf8') }));
  });
  return (code) => texts.filter(({ text }) => text.includes(`'${code}'`)).map(({ path }) => path);
}

/** The pages, by name: one for each code, and their list. */
export function errorPages(): Map<string, string> {
  const codes = errorCodes();
  const sources = sourcesOf();
  const found = new Map<string, string>();
  for (const [code, meanings] of codes) {
    const sections = meanings.flatMap((of) => {
      const { check, fix } = ERROR_HELP[of.package]?.[code] ?? {};
      return [
        `## In ${of.package}\n\n**Cause:** ${of.meaning}.\n\n**What to do:** ${of.remedy}.`,
        ...(check === undefined ? [] : [`### Check\n\n\`\`\`sh\n${check}\n\`\`\``]),
        ...(fix === undefined ? [] : [`### Code to fix it\n\n\`\`\`ts\n${fix}\`\`\``]),
      ];
    });
    const places = sources(code).map((path) => `- [${path}](${addressOf(path, 'blob')})`);
    const where = places.length === 0 ? '' : `\n\n## In the sources\n\n${places.join('\n')}`;
    found.set(code, `# ${code}\n\n${sections.join('\n\n')}${where}\n`);
  }
  const rows = [...codes].map(([code, meanings]) => {
    const texts = meanings.map((of) => (meanings.length === 1 ? of.meaning : `${of.package}: ${of.meaning}`));
    return `| [\`${code}\`](./${code}.md) | ${texts.join('; ')} |`;
  });
  const intro = 'Every error except a caller\'s mistake has a `code`. Codes are stable, messages are not. A caller\'s mistake is a `TypeError` or a `RangeError` that names the argument.';
  found.set('index', `# Errors\n\n${intro}\n\n${EXAMPLE}\n\n| code | when |\n| --- | --- |\n${rows.join('\n')}\n`);
  return found;
}
