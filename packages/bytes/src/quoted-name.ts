/** The most characters of a name that a message shows. */
const MAX_SHOWN = 100;

/** A name that comes from a file, for a message: in quotes, on one line, and truncated if it is long. */
export function quotedName(name: string): string {
  if (name.length <= MAX_SHOWN) return JSON.stringify(name);
  // Not between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(name[MAX_SHOWN - 1]!) ? MAX_SHOWN - 1 : MAX_SHOWN;
  return `${JSON.stringify(name.slice(0, end))}… (${name.length} characters)`;
}
