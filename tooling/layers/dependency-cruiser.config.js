import { arrows, exampleOfExplorer, folders } from './allowed-imports.js';

/** @import { IConfiguration, IForbiddenRuleType } from 'dependency-cruiser' */

/** The site uses the explorer's colours and fonts. */
const sharedColours = '^apps/explorer/src/shell/tokens[.]css$';

const packages = Object.keys(arrows).join('|');
const core = {
  path: '^packages/[^/]+/src/',
  pathNot: '^packages/[^/]+/src/(node\\.ts$|node/|.*\\.node\\.ts$)',
};

/** @type {IForbiddenRuleType[]} */
const outsideTheArrows = Object.entries(arrows).map(([name, targets]) => ({
  name: `arrows-of-${name}`,
  comment: `@bloom/${name} may import ${targets.map((target) => `@bloom/${target}`).join(', ') || 'no other package'}.`,
  severity: 'error',
  from: { path: `^packages/${name}/` },
  to: { path: '^(packages|apps)/', pathNot: `^packages/(${[name, ...targets].join('|')})/` },
}));

/** @type {IForbiddenRuleType[]} */
const outsideTheFolders = Object.entries(folders).flatMap(([name, arrowsOfFolders]) => {
  const src = `^packages/${name}/src/`;
  const known = Object.keys(arrowsOfFolders).join('|');
  return [
    ...Object.entries(arrowsOfFolders).map(
      /** @returns {IForbiddenRuleType} */ ([folder, targets]) => ({
        name: `arrows-of-${name}-${folder}`,
        comment: `${name}/src/${folder} may import ${targets.join(', ') || 'no other folder'}, and no entry point.`,
        severity: 'error',
        from: { path: `${src}${folder}/` },
        to: { path: src, pathNot: `${src}(${[folder, ...targets].join('|')})/` },
      }),
    ),
    /** @type {IForbiddenRuleType} */ ({
      name: `folders-of-${name}`,
      comment: 'A new folder needs its arrows in tooling/layers/allowed-imports.js.',
      severity: 'error',
      from: { path: `${src}[^/]+/`, pathNot: `${src}(${known})/` },
      to: {},
    }),
  ];
});

/** @type {IConfiguration} */
export default {
  forbidden: [
    ...outsideTheArrows,
    ...outsideTheFolders,
    {
      name: 'package-without-arrows',
      comment: 'A new package needs its arrows in tooling/layers/allowed-imports.js.',
      severity: 'error',
      from: { path: '^packages/', pathNot: `^packages/(${packages}|example-[^/]+)/` },
      to: { path: '^packages/' },
    },
    {
      name: 'only-packages-are-imported',
      comment: 'Examples and apps import packages; nothing imports them, except that the explorer shows an example.',
      severity: 'error',
      from: { path: '^(packages|apps|tooling)/([^/]+)/' },
      to: { path: '^(apps|packages/example-[^/]+)/', pathNot: ['^$1/$2/', sharedColours, `^packages/${exampleOfExplorer}/src/`] },
    },
    {
      name: 'tooling-imports-no-package',
      comment: 'Only the benchmarks and the tests of bundles, browsers and hosts import packages. The rest of tooling imports only @bloom/bytes.',
      severity: 'error',
      from: { path: '^tooling/', pathNot: '^tooling/(benchmarks|browser-tests|bundler-tests|host-tests)/' },
      to: { path: '^(packages|apps)/', pathNot: '^packages/bytes/' },
    },
    {
      name: 'tooling-stays-out-of-src',
      severity: 'error',
      // The site shows the limits of sizes and the addresses from tooling/package-check and tooling/size-limits.
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: '^apps/site/' },
      to: { path: '^tooling/' },
    },
    {
      name: 'other-packages-by-name',
      comment: 'A relative path bypasses the other package’s exports. Kernels share AssemblyScript, which no package exports.',
      severity: 'error',
      from: { path: '^(packages|apps|tooling)/([^/]+)/', pathNot: '^packages/[^/]+/assembly/' },
      to: { path: '^(packages|apps|tooling)/', pathNot: ['^$1/$2/', sharedColours], dependencyTypes: ['local'] },
    },
    {
      name: 'no-unresolvable',
      comment: 'The target is missing, or its package does not export it.',
      severity: 'error',
      // It runs in an empty project in which the packed packages are installed.
      from: { pathNot: '^tooling/host-tests/installed-program[.]mjs$' },
      // The site's build generates this file.
      to: { couldNotResolve: true, pathNot: '(^|/)pages/generated/' },
    },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: { path: '^(packages|apps)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-dev-dependency-in-src',
      comment: 'The command is published as a bundle without dependencies; the site is not published as a package.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: '^apps/(cli|site)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-node-in-core',
      comment: 'The core of a package runs in every host; node: belongs in node.ts, node/ or *.node.ts.',
      severity: 'error',
      from: core,
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-entry-point-in-core',
      comment: 'A core that imports its own Node entry point needs Node.',
      severity: 'error',
      from: core,
      to: { path: '^packages/[^/]+/src/(node\\.ts$|node/|.*\\.node\\.ts$)', dependencyTypesNot: ['aliased'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(packages|apps)/[^/]+/dist/|^apps/site/(pages/public|[.]vitepress/(dist|cache))/|/[.]vitest/|^tooling/fixtures/data/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['bloom-source', 'import', 'types', 'default'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
