/** One command with what may follow it. */
export type Completed = {
  /** `['slate', 'task', 'list']`. */
  readonly path: readonly string[];
  readonly subcommands: readonly { readonly name: string; readonly does: string }[];
  /** What its arguments may be, and whether one of them is a file. */
  readonly choices: readonly string[];
  readonly takesFile: boolean;
  readonly options: readonly {
    readonly long: string;
    readonly short?: string;
    readonly does: string;
    /** Its argument, as in the help: `file`, `count`. Absent: none. */
    readonly value?: string;
    readonly choices: readonly string[];
  }[];
};

/** A script that calls nothing when a key is pressed: all words are in it. */
export function toCompletion(shell: 'bash' | 'zsh' | 'fish', commands: readonly Completed[]): string {
  return { bash, zsh, fish }[shell](commands);
}

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const flagsOf = (option: Completed['options'][number]) => [option.long, ...(option.short ? [option.short] : [])];
const takesFile = ({ value }: Completed['options'][number]) => value === 'file';

/** Folds the command line's words up to the cursor into the command they name. */
function descend(commands: readonly Completed[], indent: string, name = 'path'): string {
  const deeper = commands.filter(({ path }) => path.length > 1).map(({ path }) => quote(path.join(' ')));
  return `${indent}case "$${name} $word" in\n${indent}  ${deeper.join('|')}) ${name}="$${name} $word" ;;\n${indent}esac`;
}

function bash(commands: readonly Completed[]): string {
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .map((option) => {
        const cases = flagsOf(option).map((flag) => quote(`${path.join(' ')} ${flag}`));
        const does =
          option.choices.length > 0
            ? `COMPREPLY=($(compgen -W ${quote(option.choices.join(' '))} -- "$current"))`
            : takesFile(option)
              ? 'COMPREPLY=($(compgen -f -- "$current"))'
              : 'COMPREPLY=()';
        return `    ${cases.join('|')}) ${does}; return ;;`;
      }),
  );
  const words = commands.map(({ path, subcommands, choices, takesFile: file, options }) => {
    const names = [...subcommands.map(({ name }) => name), ...choices].join(' ');
    return `    ${quote(path.join(' '))}) names=${quote(names)} flags=${quote(options.map(({ long }) => long).join(' '))} file=${file ? 'yes' : "''"} ;;`;
  });
  return `# bash completion of slate
_slate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" path=slate word names='' flags='' file=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${descend(commands, '    ')}
  done
  case "$path $before" in
${values.join('\n')}
  esac
  case "$path" in
${words.join('\n')}
  esac
  if [[ "$current" != -* && -n "$names" ]]; then COMPREPLY=($(compgen -W "$names" -- "$current"))
  elif [[ "$current" != -* && -n "$file" ]]; then COMPREPLY=($(compgen -f -- "$current"))
  else COMPREPLY=($(compgen -W "$flags" -- "$current")); fi
}
complete -F _slate slate
`;
}

/** (In zsh `path` is the search path, so the command's place has another name there.) */
function zsh(commands: readonly Completed[]): string {
  const describe = (name: string, does: string) => quote(`${name.replaceAll(':', '\\:')}:${does}`);
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ value }) => value !== undefined)
      .map((option) => {
        const cases = flagsOf(option).map((flag) => quote(`${path.join(' ')} ${flag}`));
        const does =
          option.choices.length > 0
            ? `compadd -- ${option.choices.map(quote).join(' ')}`
            : takesFile(option)
              ? '_files'
              : `_message ${quote(option.value ?? '')}`;
        return `    ${cases.join('|')}) ${does}; return ;;`;
      }),
  );
  const words = commands.map(({ path, subcommands, choices, takesFile: file, options }) => {
    const names = [...subcommands.map(({ name, does }) => describe(name, does)), ...choices.map(quote)];
    const flags = options.map(({ long, does }) => describe(long, does));
    return `    ${quote(path.join(' '))}) names=(${names.join(' ')}); flags=(${flags.join(' ')}); file=${file ? 'yes' : "''"} ;;`;
  });
  return `#compdef slate
# zsh completion of slate
_slate() {
  local at=slate word file='' before="\${words[CURRENT-1]}"
  local -a names flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
${descend(commands, '    ', 'at')}
  done
  case "$at $before" in
${values.join('\n')}
  esac
  case "$at" in
${words.join('\n')}
  esac
  if [[ "\${words[CURRENT]}" != -* ]] && (( \${#names} > 0 )); then _describe command names
  elif [[ "\${words[CURRENT]}" != -* && -n "$file" ]]; then _files
  else _describe option flags; fi
}
if [[ "\${funcstack[1]}" == _slate ]]; then _slate "$@"; else compdef _slate slate; fi
`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ path, subcommands, choices, takesFile: file, options }) => {
    const at = `-n ${quote(`__slate_at ${path.slice(1).join(' ')}`.trim())}`;
    return [
      ...(choices.length > 0 ? [`complete -c slate -f ${at} -a ${quote(choices.join(' '))}`] : []),
      ...(file || choices.length + subcommands.length > 0 ? [] : [`complete -c slate -f ${at}`]),
      ...subcommands.map(({ name, does }) => `complete -c slate -f ${at} -a ${name} -d ${quote(does)}`),
      ...options.map((option) => {
        const short = option.short ? ` -s ${option.short.slice(1)}` : '';
        const takes =
          option.choices.length > 0
            ? ` -x -a ${quote(option.choices.join(' '))}`
            : takesFile(option)
              ? ' -r -F'
              : option.value
                ? ' -x'
                : ' -f';
        return `complete -c slate ${at} -l ${option.long.slice(2)}${short}${takes} -d ${quote(option.does)}`;
      }),
    ];
  });
  const known = commands.filter(({ path }) => path.length > 1).map(({ path }) => quote(path.slice(1).join(' ')));
  return `# fish completion of slate
function __slate_at
  set -l path
  for word in (commandline -opc)[2..]
    set -l longer (string join -- ' ' $path $word)
    contains -- "$longer" ${known.join(' ')}; and set path $path $word
  end
  test "$path" = "$argv"
end
${lines.join('\n')}
`;
}
