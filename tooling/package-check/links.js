// The links in Markdown.

/** The target of a link, of an image, or of an HTML attribute. */
const LINK = /(?<before>\]\(|\s(?:src|href)=")(?<target>[^)"\s]+)(?=[)"])/g;

/** Code, in which brackets are not links. */
const CODE = /^```[^]*?^```$|`[^`\n]*`/gm;

/**
 * @param {string} text
 * @param {(target: string) => string} change
 * @returns {string} the text with each link changed
 */
export function withLinks(text, change) {
  let result = '';
  let end = 0;
  /** @param {string} part without code */
  const changed = (part) => part.replace(LINK, (_, /** @type {string} */ before, /** @type {string} */ target) => before + change(target));
  // The text of a link may itself be code, but its target is not.
  for (const { 0: code, index } of text.matchAll(CODE)) {
    result += changed(text.slice(end, index)) + code;
    end = index + code.length;
  }
  return result + changed(text.slice(end));
}

/**
 * @param {string} text
 * @returns {string[]} the targets of its links
 */
export function linksOf(text) {
  /** @type {string[]} */
  const targets = [];
  withLinks(text, (target) => {
    targets.push(target);
    return target;
  });
  return targets;
}

/** @param {string} target */
export function withoutFragment(target) {
  return target.replace(/#.*$/, '');
}
