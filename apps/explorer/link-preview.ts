/** The picture that sites show beside a link to the page: in `public`, made from the page by `npx pnpm@10 --filter @bloom/explorer link-picture`. */
export const LINK_PICTURE = { file: 'link-picture.png', width: 1200, height: 630 } as const;

const TITLE = 'Bloom explorer';
const PICTURE_TEXT = 'The bits of a Bloom filter as squares, those of one key coloured.';

/** A tag of the page's head, as Vite takes it. */
export interface HeadTag {
  readonly tag: 'meta' | 'link';
  readonly attrs: Readonly<Record<string, string>>;
  readonly injectTo: 'head';
}

/**
 * Where the page will be, from the environment variable `EXPLORER_URL`; undefined where it is not set.
 *
 * @throws Error unless it is the address of a folder over HTTP.
 */
export function publicUrl(setting: string | undefined): string | undefined {
  if (setting === undefined || setting === '') return undefined;
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error(`EXPLORER_URL must be the address of a folder, such as https://example.org/bloom/, got ${setting}`);
  }
  return url.href.endsWith('/') ? url.href : `${url.href}/`;
}

/**
 * What a link to the page shows elsewhere. Sites want whole addresses, so the picture and the canonical address are only there
 * where the page knows its own.
 */
export function linkPreview(base: string | undefined, description: string): HeadTag[] {
  const meta = (property: string, content: string): HeadTag => ({ tag: 'meta', attrs: { [property.startsWith('og:') ? 'property' : 'name']: property, content }, injectTo: 'head' });
  const tags = [meta('og:type', 'website'), meta('og:title', TITLE), meta('og:description', description)];
  if (base === undefined) return tags;
  return [
    ...tags,
    { tag: 'link', attrs: { rel: 'canonical', href: base }, injectTo: 'head' },
    meta('og:url', base),
    meta('og:image', base + LINK_PICTURE.file),
    meta('og:image:type', 'image/png'),
    meta('og:image:width', String(LINK_PICTURE.width)),
    meta('og:image:height', String(LINK_PICTURE.height)),
    meta('og:image:alt', PICTURE_TEXT),
    meta('twitter:card', 'summary_large_image'),
  ];
}
