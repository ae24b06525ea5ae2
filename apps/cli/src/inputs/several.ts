/** The values of an option that can be repeated, for `argParser`. */
export function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
