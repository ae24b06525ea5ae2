interface Check {
  readonly name: string;
  readonly limit: string;
}

/** The limits that `npx pnpm@10 size` checks, as a table: what a browser downloads for an entry point, minified and gzipped. */
export async function sizesTable(): Promise<string> {
  const { default: checks } = (await import('@bloom/size-limits/limits.js')) as { readonly default: readonly Check[] };
  const rows = checks.map(({ name, limit }) => `| ${name.startsWith('@') ? `\`${name}\`` : name} | ${limit} |`);
  return `| import | at most, gzipped |\n| --- | ---: |\n${rows.join('\n')}\n`;
}
