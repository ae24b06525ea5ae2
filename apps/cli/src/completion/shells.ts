/** Completion for shells. Words that are no command and no option complete as files. */
import type { CommandTree, OptionEntry } from './command-tree.js';

/** For `~/.bashrc`: `source <(bloom completion bash)`. */
export function bashCompletion(commands: readonly CommandTree[]): string {
  const cases = commands.map(({ name, options }) => `    '${name}') words='${namesOf(options).join(' ')}' ;;`);
  const values = distinctValues(commands).map(([option, choices]) => `    ${option.join('|')}) COMPREPLY=($(compgen -W '${choices.join(' ')}' -- "$cur")); return ;;`);
  return `# bash completion for bloom, made by bloom completion bash
_bloom() {
  local cur prev command words
  cur=\${COMP_WORDS[COMP_CWORD]}
  prev=\${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${topLevel(commands).join(' ')} help --help --version' -- "$cur"))
    return
  fi
  case $prev in
${values.join('\n')}
  esac
  command=\${COMP_WORDS[1]}
  case $command in
${subcommandCases(commands)}
    help) COMPREPLY=($(compgen -W '${topLevel(commands).join(' ')}' -- "$cur")); return ;;
${argumentCases(commands)}
  esac
  words=
  case $command in
${cases.join('\n')}
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); fi
}
complete -o default -F _bloom bloom
`;
}

function argumentCases(commands: readonly CommandTree[]): string {
  return commands
    .filter(({ choices }) => choices !== undefined)
    .map(({ name, choices }) => `    ${name}) if [[ $cur != -* ]]; then COMPREPLY=($(compgen -W '${choices!.join(' ')}' -- "$cur")); return; fi ;;`)
    .join('\n');
}

function subcommandCases(commands: readonly CommandTree[]): string {
  return topLevel(commands)
    .map((name) => [name, subcommands(commands, name)] as const)
    .filter(([, below]) => below.length > 0)
    .map(
      ([name, below]) => `    ${name})
      if ((COMP_CWORD == 2)); then COMPREPLY=($(compgen -W '${below.join(' ')}' -- "$cur")); return; fi
      command="$command \${COMP_WORDS[2]}" ;;`,
    )
    .join('\n');
}

/** For a file `_bloom` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CommandTree[]): string {
  const cases = commands.map(({ name, choices, options }) => {
    const specs = options.flatMap((option) => zshOption(option)).map((spec) => `        ${zshQuoted(spec)} \\`);
    const below = subcommands(commands, name);
    const rest = below.length > 0 ? `        '1:command:(${below.join(' ')})' \\\n        '*::argument:_files'` : choices === undefined ? `        '*:file:_files'` : `        '1:argument:(${choices.join(' ')})'`;
    return `      ${zshQuoted(name)})\n        _arguments -s \\\n${[...specs, rest].join('\n')}\n        ;;`;
  });
  return `#compdef bloom
# zsh completion for bloom, made by bloom completion zsh
_bloom() {
  local -a commands
  commands=(
${commands
  .filter(({ name }) => !name.includes(' '))
  .map(({ name, summary }) => `    ${zshQuoted(`${name}:${summary}`)}`)
  .join('\n')}
    'help:print the help of a command'
  )
  if ((CURRENT == 2)); then
    _describe 'command' commands
    return
  fi
  local command=$words[2]
  case $command in
    ${[...new Set(commands.filter(({ name }) => name.includes(' ')).map(({ name }) => name.split(' ')[0]!))].join('|') || "''"})
      if ((CURRENT > 3)); then command="$command $words[3]"; fi ;;
  esac
  shift words
  ((CURRENT--))
  case $command in
${cases.join('\n')}
      help) _describe 'command' commands ;;
  esac
}
if [ "$funcstack[1]" = _bloom ]; then _bloom "$@"; else compdef _bloom bloom; fi
`;
}

function zshOption({ names, description, hasValue, choices }: OptionEntry): string[] {
  const text = description.replace(/[[\]:]/g, (character) => `\\${character}`);
  const value = hasValue ? `:value:${choices === undefined ? '_files' : `(${choices.join(' ')})`}` : '';
  return names.map((name) => `*${name}[${text}]${value}`);
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For `~/.config/fish/completions/bloom.fish`. */
export function fishCompletion(commands: readonly CommandTree[]): string {
  const lines = [
    '# fish completion for bloom, made by bloom completion fish',
    'complete -c bloom -n __fish_use_subcommand -f',
    "complete -c bloom -n __fish_use_subcommand -a help -d 'print the help of a command'",
    'complete -c bloom -n __fish_use_subcommand -l help -d \'print the help\'',
    'complete -c bloom -n __fish_use_subcommand -l version -d \'print the version\'',
    `complete -c bloom -n '__fish_seen_subcommand_from help' -f -a ${fishQuoted(topLevel(commands).join(' '))}`,
  ];
  for (const { name, summary, choices, options } of commands) {
    const [first, second] = name.split(' ') as [string, string | undefined];
    const condition = second === undefined ? `__fish_seen_subcommand_from ${first}` : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
    const siblings = second === undefined ? [] : subcommands(commands, first);
    const at = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${siblings.join(' ')}`;
    lines.push(`complete -c bloom -n '${at}' -f -a ${second ?? first} -d ${fishQuoted(summary)}`);
    if (choices !== undefined) lines.push(`complete -c bloom -n '${condition}' -f -a ${fishQuoted(choices.join(' '))}`);
    for (const option of options) lines.push(`complete -c bloom -n '${condition}' ${fishOption(option)}`);
  }
  return `${lines.join('\n')}\n`;
}

function fishOption({ names, description, hasValue, choices }: OptionEntry): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const value = choices === undefined ? (hasValue ? ['-r'] : []) : ['-x', '-a', fishQuoted(choices.join(' '))];
  return [...flags, ...value, '-d', fishQuoted(description)].join(' ');
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function namesOf(options: readonly OptionEntry[]): string[] {
  return options.flatMap(({ names }) => names);
}

function topLevel(commands: readonly CommandTree[]): string[] {
  return commands.map(({ name }) => name).filter((name) => !name.includes(' '));
}

function subcommands(commands: readonly CommandTree[], name: string): string[] {
  return commands.filter((command) => command.name.startsWith(`${name} `)).map((command) => command.name.slice(name.length + 1));
}

/** The options with a choice of values, each once. */
function distinctValues(commands: readonly CommandTree[]): [names: readonly string[], choices: readonly string[]][] {
  const found = new Map<string, [readonly string[], Set<string>]>();
  for (const { names, choices } of commands.flatMap(({ options }) => options)) {
    if (choices === undefined) continue;
    const key = names.join('|');
    const all = found.get(key)?.[1] ?? new Set<string>();
    for (const choice of choices) all.add(choice);
    found.set(key, [names, all]);
  }
  return [...found.values()].map(([names, choices]) => [names, [...choices]]);
}
