import { type RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The distance from the window at which content is loaded. */
const MARGIN = '900px';

/** Whether the element has come so near to the window. */
export function useHasComeNear<Place extends Element>(margin: string): { readonly ref: RefObject<Place | null>; readonly hasComeNear: boolean } {
  const ref = useRef<Place>(null);
  const [hasComeNear, setHasComeNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        setHasComeNear(true);
      },
      { rootMargin: margin },
    );
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
  return { ref, hasComeNear };
}

/** Loads a value when the element comes near the window. */
export function useNear<T>(load: () => Promise<T>): { readonly ref: RefObject<HTMLDivElement | null>; readonly loaded: T | undefined; readonly problem: string | undefined } {
  const { ref, hasComeNear } = useHasComeNear<HTMLDivElement>(MARGIN);
  const [loaded, setLoaded] = useState<T>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!hasComeNear) return;
    let isGone = false;
    load().then(
      (value) => isGone || setLoaded(() => value),
      (error: unknown) => isGone || setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      isGone = true;
    };
  }, [hasComeNear]);
  return { ref, loaded, problem };
}
