import { Failure } from '../failure.js';

/** The header in a line `NAME: VALUE`. @param origin what the line comes from. @throws Failure for an invalid line, without printing it: it may be a secret. */
export function httpHeader(line: string, origin: string): readonly [name: string, value: string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*([\t\x20-\x7e\x80-\xff]*)$/.exec(line.trim()) ?? [];
  if (name === undefined || value === undefined) throw new Failure(`${origin}: a header must be NAME: VALUE, for example Authorization: Bearer TOKEN`);
  return [name, value];
}
