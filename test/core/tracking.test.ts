import { describe, expect, it } from '@jest/globals';
import { compilePatterns } from '../../src/core/patterns.js';
import { FIXED_EXCLUSIONS, PROJECT_DOTFILES, SECRETS } from '../../src/core/tracking.js';

const matcher = (patterns: readonly string[], ignoreCase = false) => {
  const { top } = compilePatterns(patterns.join('\n'), { source: 'list', ignoreCase });
  return (name: string, isDirectory = false): boolean => {
    const hit = top.match(name, isDirectory);
    return hit !== undefined && !hit.negated;
  };
};

describe('the fixed lists', () => {
  it.each([FIXED_EXCLUSIONS, PROJECT_DOTFILES, SECRETS])(
    'name each pattern once',
    (...patterns) => {
      expect(new Set(patterns).size).toBe(patterns.length);
    },
  );

  it('hold names only, so that one lookup serves every folder', () => {
    const inner = [...FIXED_EXCLUSIONS, ...PROJECT_DOTFILES, ...SECRETS].filter((pattern) =>
      pattern.slice(0, -1).includes('/'),
    );
    expect(inner).toEqual([]);
  });

  it('leave out output and dependencies as folders, compiled code as files', () => {
    const fixed = matcher(FIXED_EXCLUSIONS);
    const folders = 'dist build target node_modules venv .venv __pycache__ .agentsmithy'.split(' ');
    expect(folders.filter((name) => !fixed(name, true))).toEqual([]);
    expect(folders.filter((name) => fixed(name))).toEqual([]);
    expect(['a.pyc', 'a.pyo', 'a.so', 'a.dylib', 'a.dll'].filter((name) => !fixed(name))).toEqual(
      [],
    );
  });

  it('know the dotfiles of common projects', () => {
    const known = matcher(PROJECT_DOTFILES);
    const wanted =
      '.github .gitignore .gitattributes .gitmodules .editorconfig .eslintrc.json .prettierrc ' +
      '.gitlab-ci.yml .circleci .husky .vscode .dockerignore .flake8 .rubocop.yml .clang-format ' +
      '.golangci.yml .cargo .claude .cursorrules .nvmrc .tool-versions .pre-commit-config.yaml';
    expect(wanted.split(' ').filter((name) => !known(name))).toEqual([]);
    const unwanted =
      '.DS_Store .cache .bash_history .terraform .gradle .next .nx .pytest_cache .idea2';
    expect(unwanted.split(' ').filter((name) => known(name))).toEqual([]);
  });

  it('take what looks like a secret, and not what is made to be shared', () => {
    const secret = matcher(SECRETS, true);
    const secrets =
      '.env .env.local .ENV .envrc prod.env server.pem SERVER.KEY id_rsa id_ed25519 store.p12 app.pfx ' +
      'release.keystore .npmrc .pypirc .netrc .git-credentials .aws';
    expect(secrets.split(' ').filter((name) => !secret(name, name === '.aws'))).toEqual([]);
    const shared =
      '.env.example .env.sample .env.template .env.local.example id_rsa.pub keyboard.ts monkey.md ' +
      'environment.ts key.ts secrets.ts';
    expect(shared.split(' ').filter((name) => secret(name))).toEqual([]);
  });
});
