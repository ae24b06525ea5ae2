import './story.css';
import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useSession, useSessionState } from '../session/use-session.js';
import { hashOf } from '../shell/route.js';
import { BitsPerKey } from './bits-per-key.js';
import { CertainNo } from './certain-no.js';
import { FalsePositive } from './false-positive.js';
import { FirstWord } from './first-word.js';
import { RealTable } from './real-table.js';
import { SlowDisk } from './slow-disk.js';
import { goToStep } from './step.js';
import { paramsOfStory, STEPS } from './story-state.js';
import { TrailingSpace } from './trailing-space.js';
import { pageUrl, WayIn } from './laboratory-link.js';

const PICTURES: readonly ComponentType[] = [SlowDisk, FirstWord, CertainNo, FalsePositive, BitsPerKey, RealTable, TrailingSpace];

/** The story that explains Bloom filters, from a slow disk to LevelDB's bytes. */
export function StoryView() {
  return (
    <div class="page story-view">
      <header class="story-hero">
        <h1>How a few bits save a slow read</h1>
        <p class="lead">
          A Bloom filter tells a database what it does not need to look for. It has two answers: <strong class="word-no">no</strong>, which is certain, and <strong class="word-maybe">maybe</strong>. Six steps show why, and a seventh shows a trap. Guess first, then look. Words with a dotted underline highlight their part of the picture.
        </p>
      </header>
      <StepLinks />
      {PICTURES.map((Picture, i) => (
        <Picture key={STEPS[i]} />
      ))}
      <WayIn />
    </div>
  );
}

/** One step, embedded in another page. */
export function EmbeddedStep({ number }: { readonly number: number }) {
  const session = useSession();
  const words = useSessionState(({ story }) => story.words);
  const Picture = PICTURES[number - 1]!;
  return (
    <div class="page story-view is-embedded">
      <Picture />
      <p class="small muted">
        Step {number} of{' '}
        <a href={pageUrl(hashOf('story', paramsOfStory({ ...session.state.story, words, step: number })), true)} target="_blank" rel="noopener">
          the story of Bloom filters
        </a>
        .
      </p>
    </div>
  );
}

/** Links to the steps, which show the current one. */
function StepLinks() {
  const session = useSession();
  const story = useSessionState((state) => state.story);
  const nav = useRef<HTMLElement>(null);
  const [now, setNow] = useState(1);
  useEffect(() => {
    // The step in the middle of the window.
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) setNow(Number((target as HTMLElement).dataset.step));
      },
      { rootMargin: '-45% 0px -54% 0px' },
    );
    for (const step of nav.current!.parentElement!.querySelectorAll('[data-step]')) observer.observe(step);
    return () => observer.disconnect();
  }, []);
  return (
    <nav ref={nav} class="story-steps" aria-label="Steps">
      <ol>
        {STEPS.map((name, i) => (
          <li key={name}>
            <a
              href={hashOf('story', paramsOfStory({ ...story, step: i + 1 }))}
              aria-current={now === i + 1 ? 'step' : undefined}
              onClick={(event) => {
                event.preventDefault();
                session.change({ story: { ...session.state.story, step: i + 1 } });
                goToStep(nav.current!.parentElement!.querySelector(`[data-step="${i + 1}"]`)!);
              }}
            >
              <span class="step-link-number">{i + 1}</span> <span class="step-link-name">{name}</span>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
