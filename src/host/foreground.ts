import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';

/**
 * True when keys such as Ctrl-C reach this process and its children alike: the terminal sends
 * their signals to everybody in its foreground group.
 */
export function isInForeground(): boolean {
  try {
    return isForegroundStat(readFileSync('/proc/self/stat', 'latin1'));
  } catch {
    // No /proc: whoever has a terminal is most likely in front of it.
    return [0, 1, 2].some((descriptor) => isatty(descriptor));
  }
}

/** Of `/proc/PID/stat`; the name of the program may hold anything, and ends at the last bracket. */
export function isForegroundStat(stat: string): boolean {
  const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return terminal !== '0' && group === foreground;
}
