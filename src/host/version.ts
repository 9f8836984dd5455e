import { readFileSync } from 'node:fs';
import { packageFile } from '../core/package-file.js';

/** The package's own version. */
export function packageVersion(): string {
  const manifest = readFileSync(packageFile('package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
