import { GLOBAL_NAMES } from './args.js';
import { firstWord, type Topic } from './help.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A script for a shell that knows every command, its second words and its flags. */
export function completionsFor(shell: Shell, topics: readonly Topic[]): string {
  if (shell === 'fish') return forFish(topics);
  const script = forBash(topics);
  return shell === 'bash' ? script : `autoload -U +X bashcompinit && bashcompinit\n${script}`;
}

function forBash(topics: readonly Topic[]): string {
  const cases = [...choices(topics)].map(
    ([typed, words]) => `    "${typed}") known="${words.join(' ')}" ;;`,
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
    `      ${[...choices(topics).keys()].map((typed) => `"${typed}"`).join('|')}) break ;;`,
    '      *" "*) typed="${typed% *}" ;;',
    '      *) typed="" ; COMPREPLY=($(compgen -f -- "$current")) ; return ;;',
    '    esac',
    '  done',
    '  case "$typed" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$known" -- "$current"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))',
    '}',
    'complete -o filenames -F _smithyd smithyd',
    '',
  ].join('\n');
}

function forFish(topics: readonly Topic[]): string {
  const quote = (text: string): string => `'${text.replace(/[\\']/gu, '\\$&')}'`;
  const firsts = new Map<string, string>();
  for (const { command, summary } of topics) {
    if (!firsts.has(firstWord(command))) firsts.set(firstWord(command), summary);
  }
  const commands = [...firsts].map(
    ([name, summary]) =>
      `complete -c smithyd -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
  );
  const rest = [...choices(topics)].flatMap(([typed, words]) => {
    if (typed === '') return [];
    const seen = `__fish_seen_subcommand_from ${firstWord(typed)}`;
    return words.map((word) =>
      word.startsWith('--')
        ? `complete -c smithyd -n ${quote(seen)} -l ${word.slice(2)}`
        : `complete -c smithyd -n ${quote(seen)} -a ${word}`,
    );
  });
  return `${[...new Set([...commands, ...rest])].join('\n')}\n`;
}

/** What may come after these words: "" -> commands, "dialog" -> its second words, "dialog new" -> flags. */
function choices(topics: readonly Topic[]): Map<string, string[]> {
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
  return new Map([...found].map(([typed, words]) => [typed, [...words].sort()]));
}

function flagsOf({ usage, flags }: Topic): string[] {
  const written = usage.match(/--[a-z][a-z-]*/gu) ?? [];
  return [...written, ...flags.map(({ name }) => `--${name}`), '--help'];
}
