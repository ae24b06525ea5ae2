import { Argument, type Command } from 'commander';
import { version } from '../../package.json';
import { commandTreesOf } from '../completion/command-tree.js';
import { manPage } from '../completion/man-page.js';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/shells.js';
import { EXIT_MEANINGS } from '../failure.js';
import { ByteBuffer } from '../formats/byte-buffer.js';
import { flush } from '../outputs/output.js';

const KINDS = ['bash', 'zsh', 'fish', 'man'] as const;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .summary('print completion for a shell, or the man page')
    .description('Prints what makes a shell complete commands and options of bloom, or the man page.')
    .addArgument(new Argument('<kind>', 'the shell, or man for the man page').choices(KINDS))
    .addHelpText(
      'after',
      `
Examples:
  source <(bloom completion bash)
  bloom completion zsh > ~/.zsh/functions/_bloom
  bloom completion fish > ~/.config/fish/completions/bloom.fish
  bloom completion man > ~/.local/share/man/man1/bloom.1`,
    )
    .action(async (kind: (typeof KINDS)[number]) => {
      const out = new ByteBuffer();
      out.utf8(generated(kind, program));
      await flush(out);
    });
}

function generated(kind: (typeof KINDS)[number], program: Command): string {
  const commands = commandTreesOf(program);
  switch (kind) {
    case 'bash':
      return bashCompletion(commands);
    case 'zsh':
      return zshCompletion(commands);
    case 'fish':
      return fishCompletion(commands);
    case 'man':
      return manPage(commands, { version, description: program.description(), exitCodes: EXIT_MEANINGS });
  }
}
