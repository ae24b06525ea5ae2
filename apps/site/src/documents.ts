import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentsOf, publishedPackages, root } from '@bloom/package-check/published-packages.js';

/** A document of a package, and its page. */
interface PackageDocument {
  /** Its path from the root of the repository. */
  readonly path: string;
  /** The name of its page in the folder of the package: `index` for README.md. */
  readonly page: string;
  readonly title: string;
}

/** The documents of all published packages: README.md first, then the pages in docs. */
export function packageDocuments(): { readonly name: string; readonly documents: readonly PackageDocument[] }[] {
  return publishedPackages().map(({ path, folder, manifest }) => ({
    name: manifest.name.slice('@bloom/'.length),
    documents: documentsOf(folder).map((document) => ({
      path: `${path}/${document}`,
      page: document === 'README.md' ? 'index' : document.slice('docs/'.length, -'.md'.length),
      title: /^# (.+)$/m.exec(readFileSync(join(root, path, document), 'utf8'))?.[1] ?? document,
    })),
  }));
}
