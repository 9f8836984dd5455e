import { writeFileSync } from 'node:fs';

/**
 * Keeps what is in memory, token and contents of files among it, out of a core file of this process and
 * of its children. Node cannot set a limit on core files; on Linux a process can say that no mapping of it
 * belongs into one. Elsewhere core files are off unless somebody switches them on.
 */
export function keepMemoryOutOfCoreFiles(): void {
  if (process.platform !== 'linux') return;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // A kernel without core files, or no /proc.
  }
}
