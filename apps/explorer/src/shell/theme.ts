import { useEffect, useLayoutEffect, useState } from 'preact/hooks';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = 'bloom-explorer-theme';

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED_AS);
    return THEMES.find((theme) => theme === stored) ?? 'system';
  } catch {
    // Storage is blocked: the page uses the system's theme.
    return 'system';
  }
}

/** The theme, and a function that changes it. The event `bloom-theme` notifies canvases. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem(STORED_AS, theme);
    } catch {
      // Storage is blocked: the choice lasts until the page is closed.
    }
    dispatchEvent(new Event(THEME_EVENT));
  }, [theme]);
  return [theme, setTheme];
}

const THEME_EVENT = 'bloom-theme';

/** A number that changes whenever colours change, as a dependency of code that draws on a canvas. */
export function useColours(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const change = (): void => setCount((number) => number + 1);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    addEventListener(THEME_EVENT, change);
    scheme.addEventListener('change', change);
    return () => {
      removeEventListener(THEME_EVENT, change);
      scheme.removeEventListener('change', change);
    };
  }, []);
  return count;
}

/** The colours of the style sheet, by the names of their custom properties. */
export function colourOf(element: Element, name: string): string {
  return getComputedStyle(element).getPropertyValue(`--${name}`);
}

export function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
