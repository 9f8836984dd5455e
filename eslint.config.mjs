import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const CLOCK_AND_ENVIRONMENT = [
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Only config.ts reads the environment.',
  },
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Take the time from the Clock port.',
  },
];

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'test/fixtures/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      'no-console': 'error',
      'max-params': ['error', 3],
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      complexity: ['error', 14],
      'max-depth': ['error', 3],
    },
  },
  {
    files: ['src/core/**', 'src/workspace/**', 'src/api/**'],
    rules: {
      'no-restricted-syntax': ['error', ...CLOCK_AND_ENVIRONMENT],
      'no-restricted-globals': ['error', 'process'],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        URL: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
  {
    files: ['test/**', 'bench/**', 'scripts/**'],
    rules: { 'no-console': 'off', 'max-lines': 'off' },
  },
);
