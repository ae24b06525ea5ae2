import { useEffect, useState } from 'preact/hooks';

/** The media query for narrow screens, as in the style sheets. */
const NARROW = '(max-width: 480px)';

/** Whether the window is narrow, such as that of a phone. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const screen = matchMedia(NARROW);
    const follow = (): void => setNarrow(screen.matches);
    screen.addEventListener('change', follow);
    // It may have changed since the component was drawn.
    follow();
    return () => screen.removeEventListener('change', follow);
  }, []);
  return isNarrow;
}
