// Bundles made of the packed packages in a project outside this repository, by bundlers that are installed for it.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageFindings } from '../../src/page-findings.js';
import { type ServerFindings, serverFindings } from '../../src/server-findings.js';
import { type FolderServer, serveFolder } from '../folder-server.js';
import { InstalledProject } from '../installed-project.js';
import { executablePath, openedPage } from '../opened-page.js';
import { hasLocks, printedFindings } from '../server-program.js';

const isAsked = process.env.BLOOM_BUNDLERS !== undefined;
const MINUTES = 60_000;

if (!isAsked) {
  test.skip('BLOOM_BUNDLERS is not set (pnpm --filter @bloom/bundler-tests bundlers), so Next.js, webpack and Rollup are not installed', () => {});
}

describe.runIf(isAsked)('in a project of its own', () => {
  let project: InstalledProject;
  let expected: Omit<ServerFindings, 'threadJobs'>;

  beforeAll(async () => {
    project = await InstalledProject.create();
    const { threadJobs: _, ...findings } = await serverFindings();
    expected = { ...findings, lock: hasLocks() ? 'held' : 'BLOOM_NO_LOCK' };
  }, 10 * MINUTES);

  afterAll(() => {
    project.remove();
  }, 2 * MINUTES);

  function expectServer({ threadJobs, ...findings }: ServerFindings): void {
    expect(findings).toEqual(expected);
    expect(threadJobs.failed).toBe(0);
  }

  describe('a level', () => {
    const found = { got: { to: 'world' }, keys: 19_999, isLevelError: true };

    test.each([
      ['CommonJS', 'level.test.cjs', []],
      ['ES modules', 'level.test.mjs', ['--experimental-vm-modules']],
    ])(
      'is opened by a test of Jest in %s',
      async (_, file, flags) => {
        await project.run(process.execPath, [...flags, 'node_modules/jest/bin/jest.js', file]);
      },
      MINUTES,
    );

    test(
      "is opened in a bundle of webpack for Electron's main process",
      async () => {
        await project.run(process.execPath, ['build-webpack.mjs']);
        const { lock, ...findings } = await project.printed(process.execPath, ['webpack-electron/main.cjs']);
        expect(findings).toEqual(found);
        expect(lock).toBe(hasLocks() ? 'LEVEL_LOCKED' : 'LEVEL_IO_ERROR');
      },
      2 * MINUTES,
    );

    // It loads the add-on for the lock from `node_modules` next to it.
    test(
      'is opened in a single executable of Node',
      async () => {
        await project.run(process.execPath, ['build-sea.mjs']);
        expect(await project.printed(join(project.folder, 'sea'), [])).toEqual({ ...found, lock: hasLocks() ? 'LEVEL_LOCKED' : 'LEVEL_IO_ERROR' });
      },
      2 * MINUTES,
    );
  });

  // webpack copies the worker's file without what it imports, so that the thread ends at once. Its first job is done again on
  // the event loop, and there is no second one. Given `new Worker(new URL(…))` it would bundle the worker, but its output then
  // fails in a module.
  describe.each(['webpack', 'rollup'])('bundled by %s', (name) => {
    let server: FolderServer;

    beforeAll(async () => {
      await project.run(process.execPath, [`build-${name}.mjs`]);
      server = await serveFolder(join(project.folder, `${name}-page`));
    }, 5 * MINUTES);

    afterAll(() => server.stop());

    test.runIf(executablePath !== undefined)('a page finds what Node finds', async () => {
      expect(await openedPage(server.url)).toEqual(await pageFindings());
    });

    test('a server finds what it finds unbundled, and locks its database', async () => {
      expectServer(await printedFindings(join(project.folder, `${name}-server/server.mjs`)));
    });
  });

  describe.each(['--turbopack', '--webpack'])('built by next build %s', (bundler) => {
    let server: { readonly url: string; stop(): Promise<void> };

    beforeAll(async () => {
      await project.run(process.execPath, [project.next, 'build', bundler]);
      server = await project.startNext();
    }, 10 * MINUTES);

    afterAll(() => server.stop());

    test.runIf(executablePath !== undefined)('a client page finds what Node finds', async () => {
      expect(await openedPage(server.url)).toEqual(await pageFindings());
    });

    test('a route finds what Node finds, and locks its database', async () => {
      const response = await fetch(new URL('/route', server.url));
      expect(response.status).toBe(200);
      expectServer((await response.json()) as ServerFindings);
    });

    test('a page of the server finds what Node finds, and locks its database', async () => {
      const response = await fetch(new URL('/server', server.url));
      const { json } = /<script type="application\/json" id="findings">(?<json>.*?)<\/script>/.exec(await response.text())!.groups!;
      expectServer(JSON.parse(json!) as ServerFindings);
    });
  });
});
