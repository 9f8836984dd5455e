import { GLOBAL_NAMES } from './args.js';
import { firstWord, type Topic } from './help.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What the first word behind a command can be, where a few names are all there is. */
export type Names = Readonly<Record<string, readonly string[]>>;

/** A script for a shell that knows every command, its second words, its flags and their values. */
export function completionsFor(shell: Shell, topics: readonly Topic[], names: Names): string {
  const known = choices(topics, names);
  if (shell === 'fish') return forFish(topics, known);
  const script = forBash(topics, known);
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

function forBash(topics: readonly Topic[], known: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...known].map(([typed, words]) => `    "${typed}") known="${words.join(' ')}" ;;`);
  const values = topics.flatMap(({ command, flags }) =>
    flags.flatMap(({ name, choices: chosen = [] }) =>
      chosen.length === 0 ? [] : `    "${command} --${name}") known="${chosen.join(' ')}" ;;`,
    ),
  );
  return [
    '_smithyd() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" typed="" known="" word skip=""',
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    if [ -n "$skip" ]; then skip=""; continue; fi',
    '    case "$word" in',
    '      --root|--dialog) skip=yes ;;',
    '      -*) ;;',
    '      *) typed="${typed:+$typed }$word" ;;',
    '    esac',
    '  done',
    // What follows the words of a command are its own: files, names, ids.
    '  while [ -n "$typed" ]; do',
    '    case "$typed" in',
    `      ${[...known.keys()].map((typed) => `"${typed}"`).join('|')}) break ;;`,
    '      *" "*) typed="${typed% *}" ;;',
    '      *) typed="" ; COMPREPLY=($(compgen -f -- "$current")) ; return ;;',
    '    esac',
    '  done',
    '  case "$typed" in',
    ...cases,
    '  esac',
    // A flag that takes one of a few values wants nothing else behind it.
    '  case "$typed ${COMP_WORDS[COMP_CWORD-1]}" in',
    ...values,
    '  esac',
    '  COMPREPLY=($(compgen -W "$known" -- "$current"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))',
    '}',
    'complete -o filenames -F _smithyd smithyd',
    '',
  ].join('\n');
}

function forFish(topics: readonly Topic[], known: ReadonlyMap<string, readonly string[]>): string {
  const quote = (text: string): string => `'${text.replace(/[\\']/gu, '\\$&')}'`;
  const firsts = new Map<string, string>();
  for (const { command, summary } of topics) {
    if (!firsts.has(firstWord(command))) firsts.set(firstWord(command), summary);
  }
  const commands = [...firsts].map(
    ([name, summary]) =>
      `complete -c smithyd -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
  );
  const values = topics.flatMap(({ command, flags }) => {
    const seen = quote(`__fish_seen_subcommand_from ${firstWord(command)}`);
    return flags.flatMap(({ name, choices: chosen = [] }) =>
      chosen.length === 0
        ? []
        : `complete -c smithyd -n ${seen} -l ${name} -x -a ${quote(chosen.join(' '))}`,
    );
  });
  const rest = [...known].flatMap(([typed, words]) => {
    if (typed === '') return [];
    const seen = `__fish_seen_subcommand_from ${firstWord(typed)}`;
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c smithyd -n ${quote(seen)} -l ${word.slice(2)}`
        : `complete -c smithyd -n ${quote(seen)} -a ${word}`,
    );
  });
  return `${[...new Set([...commands, ...rest, ...values])].join('\n')}\n`;
}

/** What may come after these words: "" -> commands, "dialog" -> its second words, "dialog new" -> flags. */
function choices(topics: readonly Topic[], names: Names): Map<string, string[]> {
  const found = new Map<string, Set<string>>([['', new Set(GLOBAL_NAMES)]]);
  const add = (typed: string, words: readonly string[]): void => {
    const known = found.get(typed) ?? new Set();
    for (const word of words) known.add(word);
    found.set(typed, known);
  };
  for (const topic of topics) {
    const [first = '', second] = topic.command.split(' ');
    add('', [first]);
    if (second !== undefined) add(first, [second]);
    add(topic.command, flagsOf(topic));
  }
  for (const [command, words] of Object.entries(names)) add(command, words);
  add('help', ['all', ...topics.map(({ command }) => firstWord(command))]);
  add('', ['help']);
  return new Map([...found].map(([typed, words]) => [typed, [...words].sort()]));
}

function flagsOf({ usage, flags }: Topic): string[] {
  const written = usage.match(/--[a-z][a-z-]*/gu) ?? [];
  return [...written, ...flags.map(({ name }) => `--${name}`), '--help'];
}
