import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');

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

const transcripts = [...readme.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, transcript]) => transcript!);

// In one folder, one after another, as a reader would.
describe('the transcripts of the README', () => {
  test('are all found', () => {
    expect(transcripts.length).toBe(readme.split('```console').length - 1);
    expect(transcripts.length).toBeGreaterThan(1);
  });

  test.each(transcripts.flatMap(stepsOf))('$command', async ({ command, printed }) => {
    const { stdout } = await shell(`exec 2>&1; ${command}`, scratch.path);
    expect(comparable(stdout.toString())).toBe(comparable(printed));
  });
});
