import { useEffect, useRef, useState } from 'preact/hooks';
import { prefersReducedMotion } from '../shell/theme.js';

const STEP_MS = 340;
/** However many probes there are. */
const MOST_MS = 2600;

/** Where the reader is among the probes of a key. */
export interface ProbeSteps {
  readonly shown: number;
  readonly needed: number;
  readonly play: () => void;
  readonly goTo: (step: number) => void;
}

/** Plays `needed` steps whenever `subject` changes, though not when the page opens or where less motion is wanted. */
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
