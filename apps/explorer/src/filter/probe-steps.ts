import { useEffect, useRef, useState } from 'preact/hooks';
import { prefersReducedMotion } from '../shell/theme.js';

const STEP_MS = 340;
/** The longest duration of the animation, for any number of probes. */
const MOST_MS = 2600;

/** The position of the animation among the probes of a key. */
export interface ProbeSteps {
  readonly shown: number;
  readonly needed: number;
  readonly play: () => void;
  readonly goTo: (step: number) => void;
}

/** Plays `needed` steps whenever `subject` changes, but not when the page opens, and not with reduced motion. */
export function useProbeSteps(subject: unknown, needed: number): ProbeSteps {
  const [shown, setShown] = useState(needed);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isFirst = useRef(true);
  const stop = (): void => clearTimeout(timer.current);
  const play = (): void => {
    stop();
    if (prefersReducedMotion()) {
      setShown(needed);
      return;
    }
    const stepMs = Math.min(STEP_MS, MOST_MS / needed);
    let step = 0;
    const advance = (): void => {
      setShown(++step);
      if (step < needed) timer.current = setTimeout(advance, stepMs);
    };
    setShown(0);
    timer.current = setTimeout(advance, stepMs / 2);
  };
  useEffect(() => {
    if (isFirst.current) setShown(needed);
    else play();
    isFirst.current = false;
    return stop;
  }, [subject]);
  const goTo = (step: number): void => {
    stop();
    setShown(step);
  };
  return { shown: Math.min(shown, needed), needed, play, goTo };
}
