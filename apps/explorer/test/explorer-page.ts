import { type Browser, type BrowserContext, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import type { PageServer } from './page-server.js';

/** A file that is given to the page. */
export interface GivenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The files as they are sent to the page: in base64, as an array of 2.6 million numbers takes nine seconds. */
function sent(files: readonly GivenFile[]): { readonly name: string; readonly bytes: string }[] {
  return files.map(({ name, bytes }) => ({ name, bytes: Buffer.from(bytes).toString('base64') }));
}

/**
 * How many times as slow the page's thread is made, to find tests that read the page before it shows what they did. Links are then
 * followed late as well, as on a busy machine, where a test could otherwise fill in a form of the view that is about to be left.
 */
const SLOWNESS = Number(process.env.BLOOM_SLOW_PAGE ?? 1);
const LATE_LINK_MS = 100;

/** What a page that is used again is set back to. */
const VIEWPORT = { width: 1200, height: 900 };
const MOTION = 'reduce';

/** The page as a user sees it, and everything that it reports to the console. */
export class ExplorerPage {
  readonly page: Page;
  /** The context, if it belongs to this page and is closed with it. */
  readonly #context: BrowserContext | undefined;
  readonly #complaints: string[] = [];

  private constructor(context: BrowserContext | undefined, page: Page) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.text() !== 'Service Worker registration blocked by Playwright') this.#complaints.push(`${message.type()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => this.#complaints.push(error.message));
  }

  static async newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
    // Most tests block the service worker, which would fetch every file for each test.
    const context = await browser.newContext({ reducedMotion: MOTION, viewport: VIEWPORT, serviceWorkers: 'block', ...options });
    context.setDefaultTimeout(60_000);
    return context;
  }

  /** A page that has loaded nothing yet. */
  static async inContext(context: BrowserContext, ownsContext: boolean): Promise<ExplorerPage> {
    const page = await context.newPage();
    if (SLOWNESS > 1) {
      await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWNESS });
      await page.addInitScript((delay) => {
        const add = window.addEventListener;
        window.addEventListener = ((type: string, listener: EventListener, options?: AddEventListenerOptions): void =>
          add.call(window, type, type === 'hashchange' ? (event) => setTimeout(() => listener(event), delay) : listener, options)) as typeof add;
      }, LATE_LINK_MS);
    }
    const explorer = new ExplorerPage(ownsContext ? context : undefined, page);
    await page.addInitScript(() => {
      addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => reportError(new Error(`policy: ${violatedDirective} ${blockedURI}`)));
    });
    return explorer;
  }

  /** @param ownsContext whether the context is closed with the page. */
  static async open(context: BrowserContext, server: PageServer, hash: string, ownsContext: boolean): Promise<ExplorerPage> {
    const explorer = await ExplorerPage.inContext(context, ownsContext);
    await explorer.load(server, hash);
    return explorer;
  }

  /** Loads the page. */
  async load(server: PageServer, hash: string): Promise<void> {
    await this.page.goto(server.url + hash);
    // Views are loaded when they are opened. Without JavaScript there is none.
    await this.page.locator('#view > :not([role=status]), .no-script').first().waitFor();
  }

  /** Makes the page as if it were new, with nothing stored, which takes half as long as a new one. */
  async reset(): Promise<void> {
    await this.page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
      // The unloading page stores nothing either.
      Object.defineProperty(Storage.prototype, 'setItem', { value: () => undefined });
    });
    await this.page.goto('about:blank');
    await this.page.emulateMedia({ reducedMotion: MOTION, colorScheme: null });
    const { width, height } = this.page.viewportSize()!;
    if (width !== VIEWPORT.width || height !== VIEWPORT.height) await this.page.setViewportSize(VIEWPORT);
    await this.page.mouse.move(0, 0);
    this.#complaints.splice(0);
  }

  /** Everything in the console, including violations of the Content-Security-Policy. */
  get complaints(): readonly string[] {
    return this.#complaints;
  }

  /** Picks files with the view's own input. */
  async give(...files: readonly GivenFile[]): Promise<void> {
    const input = this.page.locator('input[type=file]');
    await input.waitFor({ state: 'attached' });
    // The input of the database view picks a folder. Tests give it single files.
    await input.evaluate((element: HTMLInputElement) => (element.webkitdirectory = false));
    await input.evaluate((element: HTMLInputElement, count) => (element.multiple = count > 1), files.length);
    await input.setInputFiles(files.map(({ name, bytes }) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) })));
  }

  /** Drops files onto an element. */
  async drop(target: string, ...files: readonly GivenFile[]): Promise<void> {
    const transfer = await this.page.evaluateHandle((given) => {
      const data = new DataTransfer();
      for (const { name, bytes } of given) data.items.add(new File([Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))], name));
      return data;
    }, sent(files));
    await this.page.dispatchEvent(target, 'dragover', { dataTransfer: transfer });
    await this.page.dispatchEvent(target, 'drop', { dataTransfer: transfer });
  }

  /**
   * Drops folders onto an element, as a browser gives them. Chromium lets no script make their entries: they are stand-ins with
   * the same methods.
   *
   * @param files by their paths, whose first parts are the folders that are dropped.
   */
  async dropFolders(target: string, ...files: readonly GivenFile[]): Promise<void> {
    await this.page.locator(target).evaluate(
      (element, given) => {
        interface Node {
          readonly name: string;
          readonly fullPath: string;
          readonly children: Map<string, Node>;
          file?: File;
        }
        const root: Node = { name: '', fullPath: '', children: new Map() };
        for (const { name: path, bytes } of given) {
          let node = root;
          for (const part of path.split('/')) {
            if (!node.children.has(part)) node.children.set(part, { name: part, fullPath: `${node.fullPath}/${part}`, children: new Map() });
            node = node.children.get(part)!;
          }
          node.file = new File([Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))], node.name);
        }
        const entryOf = (node: Node): unknown => ({
          name: node.name,
          fullPath: node.fullPath,
          isFile: node.file !== undefined,
          isDirectory: node.file === undefined,
          file: (resolve: (file: File) => void) => resolve(node.file!),
          createReader: () => {
            let rest = [...node.children.values()];
            return {
              readEntries: (resolve: (entries: unknown[]) => void) => {
                // A few at a time, as browsers do.
                const some = rest.slice(0, 3);
                rest = rest.slice(3);
                resolve(some.map(entryOf));
              },
            };
          },
        });
        const items = [...root.children.values()].map((node) => ({ webkitGetAsEntry: () => entryOf(node) }));
        const event = new Event('drop', { bubbles: true, cancelable: true });
        Object.defineProperty(event, 'dataTransfer', { value: { items, files: [], types: ['Files'] } });
        element.dispatchEvent(event);
      },
      sent(files),
    );
  }

  async go(hash: string): Promise<void> {
    await this.page.evaluate((to) => (location.hash = to), hash);
  }

  /** Checks the radio button of that name. */
  async choose(name: string): Promise<void> {
    await this.page.getByRole('radio', { name, exact: true }).check();
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  region(name: string): Locator {
    return this.page.getByRole('region', { name, exact: true });
  }

  /** Waits for a fact. @returns its value. */
  async fact(name: string): Promise<string> {
    return (await this.page.locator(`[data-fact="${name}"]`).first().textContent()) ?? '';
  }

  /**
   * Looks at the page after each of its changes from now on, within the page: a state that passes quickly is not missed.
   *
   * @returns what was seen so far.
   */
  async changes<Seen>(look: () => Seen): Promise<() => Promise<Seen[]>> {
    const seen = await this.page.evaluateHandle(`(() => {
      const look = ${String(look)};
      const seen = [];
      new MutationObserver(() => seen.push(look())).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
      return seen;
    })()`);
    return async () => (await seen.jsonValue()) as Seen[];
  }

  async heading(): Promise<string> {
    return (await this.page.locator('h1').textContent()) ?? '';
  }

  /** What the page shows and has reported, for a test that failed. */
  async described(): Promise<string> {
    const text = await this.page.locator('main').innerText({ timeout: 5000 }).catch(String);
    return [this.page.url(), text.replaceAll(/\s*\n\s*/g, ' | ').slice(0, 2000), ...this.#complaints].join('\n');
  }

  async close(): Promise<void> {
    await (this.#context ?? this.page).close();
  }
}
