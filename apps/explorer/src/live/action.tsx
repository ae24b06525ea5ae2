import type { ComponentChildren } from 'preact';

interface ActionProps {
  /** Whether it can be done now. */
  readonly isReady: boolean;
  readonly isPrimary?: boolean;
  readonly onPress: () => void;
  readonly children: ComponentChildren;
}

/** A button that keeps the focus while it cannot be pressed: what it begins ends in a moment, or one step later. */
export function Action({ isReady, isPrimary, onPress, children }: ActionProps) {
  return (
    <button type="button" class={isPrimary === true ? 'is-primary' : ''} aria-disabled={!isReady} onClick={() => isReady && onPress()}>
      {children}
    </button>
  );
}
