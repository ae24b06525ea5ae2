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

/** Without what differs from run to run. */
function comparable(text: string): string {
  return text.replace(/\d+\.\d\d s$/gm, 'N s');
}

// The other transcripts name files that are not there.
const [, transcript] = /^```console\n(\$ printf [^]*?)^```$/m.exec(readme)!;

describe('the transcript of the README', () => {
  test.each(stepsOf(transcript!))('$command', async ({ command, printed }) => {
    const { stdout } = await shell(`exec 2>&1; ${command}`, scratch.path);
    expect(comparable(stdout.toString())).toBe(comparable(printed));
  });
});
