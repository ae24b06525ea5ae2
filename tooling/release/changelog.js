// How changesets writes changelogs: without the hashes of commits, so that a changelog can be regenerated.

/** @import { ChangelogFunctions } from '@changesets/types' */

/** @type {ChangelogFunctions} */
export default {
  getReleaseLine({ summary }) {
    const [first, ...more] = summary.trim().split('\n');
    return Promise.resolve([`- ${first ?? ''}`, ...more.map((line) => (line === '' ? '' : `  ${line}`))].join('\n'));
  },
  getDependencyReleaseLine(_changesets, updated) {
    if (updated.length === 0) return Promise.resolve('');
    return Promise.resolve(`- Needs ${updated.map(({ name, newVersion }) => `\`${name}\` ${newVersion}`).join(', ')}.`);
  },
};
