import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloomPrints } from '../bloom.js';
import { program, Scratch, shell } from '../bloom-process.js';

// util-linux's script(1) runs a program on a terminal.
const hasScript = (spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout as string | null)?.includes('util-linux') === true;
const scratch = new Scratch();

let runs = 0;

/** Runs `bloom` on a terminal, into which `typing` types; `$SHOWN` is a file with what it shows so far. @returns what it shows, and the exit code in a shell. */
async function onTerminal(line: string, typing: string, term = 'xterm'): Promise<{ shown: string; code: number | null }> {
  const name = `run-${runs++}`;
  scratch.write(`${name}.sh`, `exec "${process.execPath}" "${program}" ${line}\n`);
  const { code } = await shell(`SHOWN=${name}.txt; (${typing}) | TERM=${term} script -qefc 'sh ${name}.sh' $SHOWN > /dev/null`, scratch.path);
  const shown = scratch.read(`${name}.txt`).toString();
  return { shown: shown.slice(shown.indexOf('\n') + 1), code };
}

/** Types an answer when there is a question. The terminal ends what is typed with Ctrl-D. */
function answering(answer: string): string {
  return `until grep -qs 'y/N' $SHOWN; do sleep 0.1; done; printf '${answer}'; sleep 0.5`;
}

if (!hasScript) test.skip('cannot run on a terminal: there is no script(1) of util-linux', () => {});

describe.runIf(hasScript).concurrent('destroy asks on a terminal', () => {
  beforeAll(async () => {
    for (const folder of ['db', 'doomed']) await bloomPrints(['put', folder, 'a', '1'], scratch.path);
  });

  test.each([
    ['n', 'n\\n', 1, 'db: nothing was deleted'],
    ['an empty line', '\\n', 1, 'db: nothing was deleted'],
    ['Ctrl-D', '\\004', 1, 'db: nothing was deleted'],
    ['Ctrl-C', '\\003', 130, '[y/N] '],
  ])('and deletes nothing after %s', async (_, answer, code, text) => {
    const outcome = await onTerminal('destroy db', answering(answer));
    expect(outcome.shown).toContain(text);
    expect(outcome.shown).not.toContain('should not happen');
    expect(outcome.code).toBe(code);
    expect(existsSync(scratch.at('db/CURRENT'))).toBe(true);
  });

  test('and deletes after yes, without control sequences', async () => {
    const { shown, code } = await onTerminal('destroy doomed', answering('y\\n'), 'dumb');
    expect(shown).toMatch(/Delete the database in doomed \(4 files, [\d,]+ bytes\)\? \[y\/N\] /);
    expect(shown).not.toContain('\x1b');
    expect(code).toBe(0);
    expect(existsSync(scratch.at('doomed'))).toBe(false);
  });
});

describe.runIf(hasScript).concurrent('progress', () => {
  // Lines that come slowly, so that there is something to show.
  const SLOW = 'for i in 1 2 3 4 5 6 7 8; do printf "key $i\\tvalue\\n"; sleep 0.25; done';

  test.runIf(hasNamedPipes).each([
    ['xterm', true],
    ['dumb', false],
  ])('on a terminal of the kind %s is drawn: %s', async (term, isDrawn) => {
    makeNamedPipe(scratch.at(`${term}.tsv`));
    const { shown, code } = await onTerminal(`build ${term}.tsv -o ${term}.ldb`, `${SLOW} > ${term}.tsv; sleep 0.5`, term);
    expect(shown).toContain(`${term}.ldb: 8 entries`);
    expect(shown.includes('\x1b')).toBe(isDrawn);
    expect(code).toBe(0);
  });
});
