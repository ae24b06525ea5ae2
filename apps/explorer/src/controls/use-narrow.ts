import { useEffect, useState } from 'preact/hooks';

/** As the style sheets say of narrow screens. */
const NARROW = '(max-width: 480px)';

/** Whether the window is narrow, such as that of a phone. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const screen = matchMedia(NARROW);
    const follow = (): void => setNarrow(screen.matches);
    screen.addEventListener('change', follow);
    return () => screen.removeEventListener('change', follow);
  }, []);
  return isNarrow;
}
