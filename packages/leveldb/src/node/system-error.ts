/** The code of a system's error, such as `ENOENT`; undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}
