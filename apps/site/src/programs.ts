import { realDatabases, realTables } from '@bloom/fixtures';

const COMPRESSION: Readonly<Record<string, string>> = { 0: 'none', 1: 'Snappy', 2: 'zlib or zstd', 4: 'raw deflate' };

/** What the real files among the test data are, by repository. */
export function programsTable(): string {
  const tables = realTables();
  const orders = new Map(realDatabases().map(({ name, comparator }) => [name.split('/')[0]!, comparator]));
  const repositories = new Map(tables.map(({ repo, file }) => [repo, file.split('/')[0]!]));
  const rows = [...repositories].map(([repo, folder]) => {
    const own = tables.filter((table) => table.repo === repo);
    const types = new Set(own.flatMap(({ blockTypes }) => Object.keys(blockTypes.data ?? {})));
    const filters = new Set(own.flatMap(({ metaKeys }) => metaKeys.filter((key) => key.startsWith('filter.')).map((key) => `\`${key.slice('filter.'.length)}\``)));
    const entries = own.reduce((sum, table) => sum + table.entries, 0);
    return `| [${repo}](https://github.com/${repo}) | ${own.length} | ${entries.toLocaleString('en')} | ${orders.get(folder) ?? '–'} | ${[...types].sort().map((type) => COMPRESSION[type] ?? type).join(', ') || '–'} | ${[...filters].join(', ') || 'none'} |`;
  });
  return `| repository | tables | entries | order of its databases | blocks | filters |\n| --- | ---: | ---: | --- | --- | --- |\n${rows.sort().join('\n')}\n`;
}
