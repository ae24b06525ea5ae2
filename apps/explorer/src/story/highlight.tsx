/** Figures in the text that highlight the parts of the picture they describe. */
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo, useState } from 'preact/hooks';

interface Lit {
  /** The parts of the picture that are highlighted. */
  readonly parts: ReadonlySet<string>;
  readonly hover: (parts: readonly string[] | undefined) => void;
  readonly pinned: string | undefined;
  readonly pin: (parts: readonly string[]) => void;
}

const NOTHING: ReadonlySet<string> = new Set();
const LitContext = createContext<Lit>({ parts: NOTHING, hover: () => undefined, pinned: undefined, pin: () => undefined });

/** A text and a picture in which its figures highlight parts. */
export function LitParts({ children }: { readonly children: ComponentChildren }) {
  const [hovered, hover] = useState<readonly string[]>();
  const [pinned, setPinned] = useState<readonly string[]>();
  const lit = useMemo(
    (): Lit => ({
      parts: new Set(hovered ?? pinned ?? []),
      hover,
      pinned: pinned?.join(),
      pin: (parts) => setPinned((before) => (before?.join() === parts.join() ? undefined : parts)),
    }),
    [hovered, pinned],
  );
  return <LitContext.Provider value={lit}>{children}</LitContext.Provider>;
}

/** The highlighted parts of the picture. */
export function useLit(): ReadonlySet<string> {
  return useContext(LitContext).parts;
}

/** A figure in the text. The mouse or the focus highlights its part of the picture; a click or Enter keeps it highlighted. */
export function Figure({ lights, children }: { readonly lights: readonly (string | number)[]; readonly children: ComponentChildren }) {
  const { hover, pinned, pin } = useContext(LitContext);
  const parts = lights.map(String);
  return (
    <button
      type="button"
      class="figure"
      aria-pressed={pinned === parts.join()}
      title="Show it in the picture"
      onPointerEnter={() => hover(parts)}
      onPointerLeave={() => hover(undefined)}
      onFocus={() => hover(parts)}
      onBlur={() => hover(undefined)}
      onClick={() => pin(parts)}
    >
      {children}
    </button>
  );
}
