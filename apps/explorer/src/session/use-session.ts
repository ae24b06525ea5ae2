import { createContext } from 'preact';
import { useContext, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import type { Session, SessionState } from './session.js';

export const SessionContext = createContext<Session | undefined>(undefined);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new TypeError('a view is drawn within a session');
  return session;
}

/** A part of the session's state. The component is redrawn when it changes. */
export function useSessionState<T>(select: (state: SessionState) => T): T {
  const session = useSession();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const value = select(session.state);
  const drawn = useRef({ value, select });
  drawn.current = { value, select };
  useLayoutEffect(() => {
    const update = (): void => {
      if (drawn.current.select(session.state) !== drawn.current.value) redraw(undefined);
    };
    // The state may have changed after the component was drawn.
    update();
    return session.subscribe(update);
  }, [session]);
  return value;
}
