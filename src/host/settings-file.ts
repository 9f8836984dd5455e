import type { SettingsFile } from '../core/ports.js';
import { readSmallFile, replaceFile } from './small-files.js';

export function openSettingsFile(path: string): SettingsFile {
  return {
    path,
    read() {
      try {
        const text = readSmallFile(path);
        return text === undefined ? {} : (JSON.parse(text) as unknown);
      } catch {
        return undefined;
      }
    },
    write: (settings) => replaceFile(path, `${JSON.stringify(settings, null, 2)}\n`),
  };
}
