import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useSession, useSessionState } from '../session/use-session.js';
import { LitParts } from './highlight.js';
import { useIsEmbedded } from './laboratory-link.js';
import { STEPS, type StoryState } from './story-state.js';

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly picture: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A step of the story: a text and a picture. */
export function Step({ number, title, picture, children }: StepProps) {
  const section = useRef<HTMLElement>(null);
  const wanted = useSessionState(({ story }) => story.step === number);
  // An embedded step is the whole page.
  const Title = useIsEmbedded() ? 'h1' : 'h2';
  useEffect(() => {
    if (wanted) goToStep(section.current!);
  }, [wanted]);
  return (
    <section ref={section} class="story-step" aria-labelledby={`step-${number}`} data-step={number}>
      <LitParts>
        <div class="step-words">
          <Title class="step-title" id={`step-${number}`} tabIndex={-1}>
            <span class="step-number">
              <span class="visually-hidden">Step </span>
              {number}
              <span class="visually-hidden"> of {STEPS.length}: </span>
            </span>
            {title}
          </Title>
          {children}
        </div>
        <div class="step-picture card">{picture}</div>
      </LitParts>
    </section>
  );
}

/** Scrolls a step to the top of the window, and focuses it. */
export function goToStep(section: Element): void {
  section.scrollIntoView();
  section.querySelector<HTMLElement>('.step-title')!.focus({ preventScroll: true });
}

/** The state of the story, and a function that changes it. */
export function useStory(): [StoryState, (part: Partial<StoryState>) => void] {
  const session = useSession();
  const story = useSessionState((state) => state.story);
  return [story, (part) => session.change({ story: { ...session.state.story, ...part } })];
}
