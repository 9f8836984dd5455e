/** Writes what is derived from the method table: docs/METHODS.md and the checked-in surface. Needs a build. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { METHODS } from '../dist/api/table.js';
import { toReference } from '../dist/api/reference.js';
import { shrinkage, toSurface } from '../dist/api/surface.js';

const SURFACE = 'test/api/surface.json';
const present = toSurface(METHODS);
const lost = shrinkage(JSON.parse(readFileSync(SURFACE, 'utf8')), present);
if (lost.length > 0) {
  console.error(`The surface may grow, not shrink:\n  ${lost.join('\n  ')}`);
  process.exit(1);
}
mkdirSync('docs', { recursive: true });
writeFileSync(SURFACE, `${JSON.stringify(present, null, 2)}\n`);
writeFileSync('docs/METHODS.md', toReference(METHODS));
