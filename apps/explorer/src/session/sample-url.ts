/** The URL of a sample, by its path below `samples/`. */
export function sampleUrl(path: string): string {
  return new URL(`samples/${path}`, document.baseURI).href;
}
