import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bloomTranscript } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

/** The commands of a transcript with what they print, which may be in either output. */
function stepsOf(transcript: string): { command: string; printed: string }[] {
  return transcript
    .split(/^\$ /m)
    .slice(1)
    .map((step) => ({ command: step.slice(0, step.indexOf('\n')), printed: step.slice(step.indexOf('\n') + 1) }));
}

/** What differs from run to run, and what it is compared as. */
const NORMALISED: readonly (readonly [RegExp, string])[] = [
  [/\b\d+\.\d\d s$/gm, 'N s'],
  [/"seconds":[\d.]+/g, '"seconds":N'],
];

function comparable(text: string): string {
  return NORMALISED.reduce((normal, [pattern, name]) => normal.replace(pattern, name), text);
}

/** What a command prints. A shell starts those that need one: with pipes, redirections or other programs. */
async function shownBy(command: string, cwd: string): Promise<string> {
  const [, line] = /^bloom ([^|<>&$]+)$/.exec(command) ?? [];
  return line === undefined ? (await shell(`exec 2>&1; ${command}`, cwd)).stdout.toString() : bloomTranscript(line, cwd);
}

// Each document in a folder of its own, one command after another, as a reader would.
describe.each(['README.md', '../site/pages/guide/command-line.md', '../site/pages/guide/command-formats.md'])('the transcripts of %s', (document) => {
  const scratch = new Scratch();
  const text = readFileSync(join(import.meta.dirname, '../..', document), 'utf8');
  const transcripts = [...text.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, transcript]) => transcript!);

  test('are all found', () => {
    expect(transcripts.length).toBe(text.split('```console').length - 1);
    expect(transcripts.length).toBeGreaterThan(0);
  });

  test.each(transcripts.flatMap(stepsOf))('$command', async ({ command, printed }) => {
    expect(comparable(await shownBy(command, scratch.path))).toBe(comparable(printed));
  });
});
