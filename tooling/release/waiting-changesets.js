/**
 * Checks a changeset. A major is refused for a package before 1.0.0, because changesets would raise its version to 1.0.0.
 *
 * @param {string} changeset its text
 * @param {ReadonlyMap<string, string>} versions of the published packages, by name
 * @returns {string[]} the problems
 */
export function problemsOf(changeset, versions) {
  const [, head = '', text = ''] = /^---\n([^]*?)---\n([^]*)$/.exec(changeset) ?? [];
  const problems = head.trimEnd().split('\n').flatMap((line) => {
    const [, name = '', bump] = /^'([^']+)': (patch|minor|major)$/.exec(line) ?? [];
    if (bump === undefined) return [`not a package name and a bump: ${line}`];
    const version = versions.get(name);
    if (version === undefined) return [`${name} is not published`];
    return bump === 'major' && version.startsWith('0.') ? [`${name} is ${version}: an incompatible change before 1.0.0 is a minor`] : [];
  });
  return text.trim() === '' ? [...problems, 'no text'] : problems;
}
