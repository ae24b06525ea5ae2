import { render } from 'preact';
import './shell/tokens.css';
import './shell/shell.css';
import './controls/controls.css';
import { Session } from './session/session.js';
import { SessionContext } from './session/use-session.js';
import { App } from './shell/app.js';

const session = new Session();
session.start();
render(
  <SessionContext.Provider value={session}>
    <App />
  </SessionContext.Provider>,
  document.getElementById('explorer')!,
);
if (import.meta.env.PROD && 'serviceWorker' in navigator && isSecureContext) {
  // Lets the page work offline.
  navigator.serviceWorker.register('./service-worker.js').catch(() => undefined);
}
