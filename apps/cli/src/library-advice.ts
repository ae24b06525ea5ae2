/** Advice at the end of library messages that refers to options which the command does not have. */
const ADVICE: readonly RegExp[] = [
  /: pass one in codecs$/,
  /: pass codecs\b.*$/,
  /: pass a codec that does as compression$/,
  /, open it with Table$/,
  /[:;] Database\.repair makes .*$/,
  /, or (?:see|use) Database\.repair$/,
  /[:;] make a new (?:one|MANIFEST) with Database\.repair$/,
  /: see maxBlockBytes$/,
  /: pass a larger maxBlockBytes$/,
  /: open the database with a larger maxBlockBytes, of up to 1 GiB$/,
  /: pass a larger maxFileSize, so that there are fewer tables$/,
  /: copy the entries to a new database with a larger maxFileSize$/,
  /, or pass the option byteLength$/,
  /, or make sure that nobody else writes and pass lock: 'none'$/,
  /: make sure that nobody else writes to it, and pass lock: 'none'$/,
];

/** What the user can do about a block whose codec was not given. */
export const CODEC_ADVICE = '--codec MODULE reads it with a codec for this type';

/** Findings for JSON: without advice for programmers. */
export function plainFindings<T extends { readonly problem: string }>(findings: readonly T[]): T[] {
  return findings.map((finding) => ({ ...finding, problem: withoutAdvice(finding.problem) }));
}

/** A library message as a message of the command: without advice for programmers, and without names of options. */
export function withoutAdvice(problem: string): string {
  const plain = ADVICE.reduce((text, advice) => text.replace(advice, ''), problem);
  return plain.replace(/(?:half of )?\bmaxBlockBytes is (?=\d)/, 'the limit is ');
}
