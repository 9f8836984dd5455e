import { readFileSync } from 'node:fs';

/** The package's own version; `package.json` lies two folders above both src/host and dist/host. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
