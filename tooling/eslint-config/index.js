import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { hostAtLoad } from './host-at-load.js';
import { lateHashFields } from './late-hash-fields.js';

const hostGlobals = ['Buffer', 'process', 'global', 'window', 'self', 'document', '__dirname', '__filename', 'require'];

export default defineConfig(
  // AssemblyScript looks like TypeScript but is not.
  globalIgnores(['**/dist/', '**/node_modules/', '**/.turbo/', '**/coverage/', '.stryker/', '**/.vitest/', 'tooling/fixtures/data/', 'apps/site/pages/', '**/.vitepress/cache/', '**/assembly/']),
  {
    files: ['**/*.{js,cjs,ts,tsx}'],
    extends: [js.configs.recommended, tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      // noUncheckedIndexedAccess types bytes[i] as possibly undefined; `!` costs nothing, unlike a check.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Most messages contain offsets and lengths.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // Loops over bytes also advance an offset, or iterate over two arrays at once.
      '@typescript-eslint/prefer-for-of': 'off',
      // `while (true)` is allowed, and ends with a return.
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: 'only-allowed-literals' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // An error of the caller's code, or the reason of a signal, is passed on unchanged.
      '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['**/*.{js,cjs}'],
    rules: {
      // TypeScript checks names, including Node's globals.
      'no-undef': 'off',
      '@typescript-eslint/no-require-imports': 'off',
    },
  },
  {
    files: ['packages/*/src/**'],
    ignores: ['packages/*/src/node.ts', 'packages/*/src/node/**', 'packages/*/src/**/*.node.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...hostGlobals.map((name) => ({ name, message: 'A core runs in every host: this belongs in an entry point.' })),
      ],
    },
  },
  {
    files: ['packages/*/src/**'],
    rules: {
      'no-restricted-imports': ['error', { name: 'node:process', message: 'An ES module that imports it makes Node read every property of the process, which loads its streams and takes 3 ms: use the global.' }],
    },
  },
  {
    files: ['packages/*/src/**'],
    plugins: { bloom: { rules: { 'host-at-load': hostAtLoad, 'late-hash-fields': lateHashFields } } },
    rules: { 'bloom/host-at-load': 'error', 'bloom/late-hash-fields': 'error' },
  },
  {
    files: ['packages/{sstable,leveldb,level}/src/**'],
    // One for each thread, page or server.
    ignores: ['packages/*/src/inspect/**', 'packages/*/src/contract/**', 'packages/leveldb/src/http.ts', 'packages/level/src/node/**', 'packages/level/src/worker.ts', 'packages/level/src/worker/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          // V8's parser marks these functions, but not those of fields of classes, of object literals and of variables.
          selector: "AssignmentExpression[left.type='MemberExpression'][right.type=/^(Arrow)?FunctionExpression$/]",
          message: 'V8 creates this function in its old generation, where everything it refers to stays until the whole heap is collected: assign a const.',
        },
      ],
    },
  },
  {
    files: ['packages/*/test/**', 'apps/*/test/**', 'tooling/*/test/**'],
    rules: {
      // Tests replace policies, sources and sinks with broken ones.
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      // Tests detach the functions of comparators and codecs, which do not use `this`.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['packages/level/test/dependents/**'],
    rules: {
      // They are written in the manner of programs that use other rules, or none.
      eqeqeq: 'off',
      'preserve-caught-error': 'off',
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['apps/*/src/**', 'examples/**', 'packages/example-*/src/catalogue.ts', 'tooling/**'],
    rules: { 'no-console': 'off' },
  },
);
