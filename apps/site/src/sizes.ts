interface Check {
  readonly name: string;
  readonly limit: string;
}

/** The limits that `npx pnpm@10 size` checks: what a browser downloads for an entry point or a job, minified and gzipped. */
export async function pageSizes(): Promise<Map<string, string>> {
  const { default: checks } = (await import('@bloom/size-limits/limits.js')) as { readonly default: readonly Check[] };
  return new Map(checks.map(({ name, limit }) => [name, limit]));
}

/** The limits as a table. */
export function sizesTable(sizes: ReadonlyMap<string, string>): string {
  const rows = [...sizes].map(([name, limit]) => `| ${name.startsWith('@') ? `\`${name}\`` : name} | ${limit} |`);
  return `| import | at most, gzipped |\n| --- | ---: |\n${rows.join('\n')}\n`;
}
