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
if (import.meta.env.PROD && isSecureContext) {
  // Lets the page work offline. Browsers that block storage refuse this in different ways; views that are loaded later need this module to end well.
  const register = async (): Promise<unknown> => navigator.serviceWorker.register('./service-worker.js');
  register().catch(() => undefined);
}
