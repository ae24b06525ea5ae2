/** Texts up to this length are parsed as JSON. */
const MAX_JSON_LENGTH = 2 ** 24;

/** The object or array of a JSON text; undefined for other texts, and where it would differ from the text: in a number that JavaScript rounds, or a name that occurs twice. */
export function jsonOf(text: string): object | undefined {
  if (text.length > MAX_JSON_LENGTH || !/^\s*[[{]/u.test(text)) return undefined;
  let value: object;
  try {
    value = JSON.parse(text) as object;
  } catch {
    return undefined;
  }
  return exactNames(text) === countNames(value) ? value : undefined;
}

/** The number of names in a valid JSON text; undefined if one of its numbers cannot be represented. */
function exactNames(text: string): number | undefined {
  let names = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') {
      for (i++; text[i] !== '"'; i++) if (text[i] === '\\') i++;
    } else if (text[i] === ':') names++;
    else if (/[-\d]/u.test(text[i]!)) {
      const start = i;
      while (/[-+.\deE]/u.test(text[i + 1] ?? '')) i++;
      if (!isExact(text.slice(start, i + 1))) return undefined;
    }
  }
  return names;
}

function countNames(root: object): number {
  let names = 0;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const parts = Object.values(value) as unknown[];
    if (!Array.isArray(value)) names += parts.length;
    for (const part of parts) waiting.push(part);
  }
  return names;
}

/** Whether a number is shown with the digits that are in the text. */
function isExact(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && digitsOf(text) === digitsOf(String(number));
}

/** The significant digits of a number and its power of ten: the same for `120`, `1.2e2` and `120.0`. */
function digitsOf(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/iu.exec(text)!;
  const digits = `${whole}${fraction}`.replace(/^0+/u, '');
  const significant = digits.replace(/0+$/u, '');
  return significant === '' ? '0' : `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
