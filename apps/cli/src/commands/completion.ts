import { Argument, type Command } from 'commander';
import { version } from '../../package.json';
import { commandTreesOf } from '../completion/command-tree.js';
import { manPage } from '../completion/man-page.js';
import { referencePage } from '../completion/reference-page.js';
import { bashCompletion, fishCompletion, zshCompletion } from '../completion/shells.js';
import { EXIT_MEANINGS } from '../exit-codes.js';
import { ByteBuffer } from '../formats/byte-buffer.js';
import { flush } from '../outputs/output.js';

const KINDS = ['bash', 'zsh', 'fish', 'man', 'markdown'] as const;

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .summary('print completion for a shell, or the reference')
    .description('Prints a script that makes a shell complete the commands and options of bloom, or the reference of all commands: a man page, or a page in Markdown.')
    .addArgument(new Argument('<kind>', 'the shell, or the form of the reference').choices(KINDS))
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
    case 'markdown':
      return referencePage(commands, EXIT_MEANINGS);
  }
}
