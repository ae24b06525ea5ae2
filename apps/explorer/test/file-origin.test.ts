import { afterEach, expect, test, vi } from 'vitest';
import { fileAt } from '../src/table/file-origin.js';

afterEach(() => void vi.unstubAllGlobals());

test.each([
  ['words/a%20b.ldb', 'http://example.org/page/words/a%20b.ldb', 'a b.ldb'],
  ['https://a.example/%E0.ldb', 'https://a.example/%E0.ldb', '%E0.ldb'],
  ['https://a.example/words/', 'https://a.example/words/', 'https://a.example/words/'],
])('the file at %s is opened, whether or not its name is escaped UTF-8', (url, href, name) => {
  vi.stubGlobal('document', { baseURI: 'http://example.org/page/' });
  expect(fileAt(url)).toEqual({ kind: 'url', url: href, name });
});

test('text that is not a URL is kept, so that opening it fails with an error that says so', () => {
  vi.stubGlobal('document', { baseURI: 'http://example.org/page/' });
  expect(fileAt('https://[')).toEqual({ kind: 'url', url: 'https://[', name: 'https://[' });
});
