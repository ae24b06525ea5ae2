import type { ComponentChildren } from 'preact';

interface ActionProps {
  /** Whether the button can be pressed now. */
  readonly isReady: boolean;
  readonly isPrimary?: boolean;
  readonly onPress: () => void;
  readonly children: ComponentChildren;
}

/** A button that keeps the focus while it is disabled, which is usually only for a moment. */
export function Action({ isReady, isPrimary, onPress, children }: ActionProps) {
  return (
    <button type="button" class={isPrimary === true ? 'is-primary' : ''} aria-disabled={!isReady} onClick={() => isReady && onPress()}>
      {children}
    </button>
  );
}
