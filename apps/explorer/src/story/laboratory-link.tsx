import { INITIAL, paramsFromState } from '../filter/filter-state.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { hashOf } from '../shell/route.js';
import { ROW_BITS, ROW_BYTES, ROW_PROBES, targetOf, wordsOr } from './story-row.js';

/** Whether a step is embedded in another page. */
export function useIsEmbedded(): boolean {
  return useSessionState(({ embedded }) => embedded !== undefined);
}

/** A link to a view. In an embedded step, it opens the whole explorer. */
export function pageUrl(hash: string, isEmbedded: boolean): string {
  return isEmbedded ? new URL(`./${hash}`, document.baseURI).href : hash;
}

/** The hash of the laboratory with the reader's own row. */
export function hashOfOwnBits(storyWords: readonly string[]): string {
  const keys = wordsOr(storyWords);
  const { params } = paramsFromState({
    ...INITIAL,
    keys,
    query: targetOf(keys),
    expectedKeys: keys.length,
    bitsPerKey: Math.max(1, Math.floor(ROW_BITS / keys.length)),
    probes: ROW_PROBES,
    byteLength: ROW_BYTES,
  });
  return hashOf('filter', params);
}

/** The end of the story. */
export function WayIn() {
  const session = useSession();
  const words = useSessionState(({ story }) => story.words);
  return (
    <section class="story-end" aria-labelledby="way-in">
      <h2 id="way-in">Your turn</h2>
      <p>The laboratory has the same row with {words.length > 1 ? `your ${words.length} words` : 'your word'}: click any bit, change the size, or paste a thousand keys.</p>
      <div class="row">
        <a class="button is-primary" href={hashOfOwnBits(words)} onClick={() => session.saveUrl()}>
          Open your {ROW_BITS} bits in the laboratory
        </a>
        <a class="button" href={hashOf('database', new URLSearchParams({ sample: '1' }))} onClick={() => session.saveUrl()}>
          Walk through a database
        </a>
      </div>
    </section>
  );
}
