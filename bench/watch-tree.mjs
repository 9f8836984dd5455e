/** Makes the tree a watcher is measured on: ten files of about 5 KB in each folder. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';

export function makeTree(root, files) {
  if (existsSync(`${root}/complete`)) return;
  const line = 'const value = compute(input, options); // a line of ordinary length\n';
  for (let folder = 0; folder < files / 10; folder += 1) {
    const path = `${root}/src/part-${Math.floor(folder / 100)}/module-${folder % 100}`;
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 10; file += 1) {
      writeFileSync(`${path}/file-${file}.ts`, `// ${folder} ${file}\n${line.repeat(75)}`);
    }
  }
  writeFileSync(`${root}/complete`, '');
}
