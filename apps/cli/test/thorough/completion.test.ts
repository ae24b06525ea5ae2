import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bloomPrints } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--version']).error === undefined;
}

describe('completion', () => {
  test('knows every command and option of --help, in each shell and in the man page', async () => {
    const help = await bloomPrints(['scan', '--help'], scratch.path);
    const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option!);
    expect(options).toContain('--keys-only');
    for (const kind of ['bash', 'zsh', 'fish', 'man']) {
      const text = (await bloomPrints(['completion', kind], scratch.path)).replaceAll('\\-', '-');
      for (const option of options) expect(text).toContain(kind === 'fish' ? `-l ${option.slice(2)}` : option);
      for (const command of ['get', 'merge', 'put', 'bulk', 'assemble']) expect(text).toContain(command);
    }
  });

});

/** A line that is being typed, and what completes its last word. There is a file `table.ldb`. */
const LINES: readonly (readonly [line: string, words: readonly string[]])[] = [
  ['bloom sc', ['scan']],
  ['bloom refi', ['refilter']],
  ['bloom count --by-p', ['--by-prefix']],
  ['bloom bulk as', ['assemble']],
  ['bloom load --at', ['--atomic']],
  ['bloom scan --keys', ['--keys-only']],
  ['bloom scan --format js', ['jsonl']],
  ['bloom scan ta', ['table.ldb']],
  ['bloom filter s', ['size']],
  ['bloom filter size --bi', ['--bits-per-key']],
  ['bloom help me', ['merge']],
  ['bloom completion ', ['bash', 'fish', 'man', 'markdown', 'zsh']],
];

describe('completion in a shell', () => {
  scratch.write('table.ldb', '');

  test.each(LINES)('bash completes %s', async (line, words) => {
    // What bash does itself with `-o default` when the function finds nothing.
    const { stdout } = await shell(
      `source <(bloom completion bash); COMP_LINE='${line}'; read -ra COMP_WORDS <<< "$COMP_LINE"; [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _bloom; ((\${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); printf '%s\\n' "\${COMPREPLY[@]}"`,
      scratch.path,
    );
    expect(stdout.toString().trimEnd().split('\n').sort()).toEqual(words);
  });

  test.skipIf(!isInstalled('fish')).each(LINES)('fish, where it is installed, completes %s', async (line, words) => {
    const { stdout, stderr } = await shell(`bloom completion fish > bloom.fish; HOME=$PWD fish --no-config -c "source bloom.fish; complete -C '${line}'"`, scratch.path);
    const found = stdout.toString().trimEnd().split('\n');
    expect({ words: found.map((text) => text.split('\t')[0]!).sort(), stderr }).toEqual({ words, stderr: '' });
  });

  // In a terminal, as a person would: what the completion adds is written to a file.
  test.skipIf(!isInstalled('zsh')).each(LINES)('zsh, where it is installed, completes %s', async (line, words) => {
    const folder = new Scratch();
    folder.write('table.ldb', '');
    scratch.write(
      'rc.zsh',
      `PS1=
      fpath=($FUNCTIONS $fpath)
      autoload -Uz compinit; compinit -u -d $FUNCTIONS/dump
      bloom() { : }
      compadd() {
        # Calls that only ask which words fit add none.
        if [[ \${@[1,(i)(-|--)]} == *-[a-zA-Z]#[OAD](\\ *|) ]]; then builtin compadd "$@"; return; fi
        local -a fitting
        builtin compadd -O fitting "$@"
        print -rl -- $fitting >> $FUNCTIONS/found
        builtin compadd "$@"
      }
      complete-and-say() { zle complete-word; print -r SAID }
      zle -N complete-and-say
      bindkey '^I' complete-and-say
      print READY`,
    );
    scratch.write('terminal.zsh', `zmodload zsh/zpty; zpty z 'zsh -f -i'; zpty -w z "source $RC"; zpty -r z out '*READY*'; zpty -w -n z "$1"$'\t'; zpty -r z out '*SAID*'; zpty -d z`);
    await shell(`mkdir zsh; bloom completion zsh > zsh/_bloom; FUNCTIONS=$PWD/zsh RC='${scratch.at('rc.zsh')}' zsh -f '${scratch.at('terminal.zsh')}' '${line}'`, folder.path);
    expect(folder.read('zsh/found').toString().trimEnd().split('\n').filter((word) => word !== '').sort()).toEqual(words);
  });
});

const BACKSPACE = '\b';

/** What a terminal shows: bold text is printed twice in the same place, and in some versions escapes switch it on. */
function plain(formatted: Buffer): string {
  return stripVTControlCharacters(formatted.toString()).replace(new RegExp(`.${BACKSPACE}`, 'gu'), '');
}

describe('the man page', () => {
  test.skipIf(!isInstalled('groff'))('is formatted by groff, where it is installed, without a warning', async () => {
    const { code, stdout, stderr } = await shell('bloom completion man > bloom.1 && groff -man -Tutf8 -ww bloom.1', scratch.path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(plain(stdout)).toContain('--max-table-size <bytes>');
  });

  test.skipIf(!isInstalled('man'))('is shown by man, where it is installed', async () => {
    const { code, stdout, stderr } = await shell('bloom completion man > bloom.1 && MANWIDTH=80 man -l bloom.1', scratch.path);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const title of ['NAME', 'SYNOPSIS', 'COMMANDS', 'EXIT STATUS', 'ENVIRONMENT']) expect(plain(stdout)).toMatch(new RegExp(`^${title}$`, 'm'));
    expect(plain(stdout).split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test.skipIf(spawnSync('mandoc', []).error !== undefined)('is formatted by mandoc, where it is installed, with a warning about its date only', async () => {
    const { stdout } = await shell('bloom completion man > bloom.1; mandoc -T lint -W warning bloom.1', scratch.path);
    expect(stdout.toString()).toMatch(/^mandoc: bloom\.1:1:\d+: WARNING: missing date, using "": TH\n$/);
  });
});
