import { type RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The distance from the window at which content is loaded. */
const MARGIN = '900px';

/** Loads a value when the element comes near the window. */
export function useNear<T>(load: () => Promise<T>): { readonly ref: RefObject<HTMLDivElement | null>; readonly loaded: T | undefined; readonly problem: string | undefined } {
  const ref = useRef<HTMLDivElement>(null);
  const [loaded, setLoaded] = useState<T>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isGone = false;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        observer.disconnect();
        load().then(
          (value) => isGone || setLoaded(() => value),
          (error: unknown) => isGone || setProblem(error instanceof Error ? error.message : String(error)),
        );
      },
      { rootMargin: MARGIN },
    );
    observer.observe(ref.current!);
    return () => {
      isGone = true;
      observer.disconnect();
    };
  }, []);
  return { ref, loaded, problem };
}
