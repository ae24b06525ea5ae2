import { render } from 'preact';
import './shell/tokens.css';
import './shell/shell.css';
import './controls/controls.css';
import { Session } from './session/session.js';
import { SessionContext } from './session/use-session.js';
import { App } from './shell/app.js';

const session = new Session();
/** The time that a newer build may take to replace this one before the page is shown. */
const UPDATE_MS = 3000;

/** Loads the page again if a newer build waits and no other page of this one is open. */
async function update(): Promise<void> {
  const { serviceWorker } = navigator;
  const registration = serviceWorker.controller === null ? undefined : await serviceWorker.getRegistration();
  // A registration for a parent folder belongs to another page.
  const waiting = registration?.scope === new URL('./', location.href).href ? registration.waiting : undefined;
  if (!waiting) return;
  await new Promise((resolve) => {
    serviceWorker.onmessage = resolve;
    setTimeout(resolve, UPDATE_MS);
    serviceWorker.oncontrollerchange = () => location.reload();
    waiting.postMessage(0);
  });
  // If the newer build takes over later, a page that was used keeps what loading it again would lose, such as a live database.
  for (const type of ['pointerdown', 'keydown', 'drop']) addEventListener(type, () => (serviceWorker.oncontrollerchange = null), true);
}

function start(): void {
  session.start();
  render(
    <SessionContext.Provider value={session}>
      <App />
    </SessionContext.Provider>,
    document.getElementById('explorer')!,
  );
}

if (import.meta.env.PROD && isSecureContext) {
  // Lets the page work offline. Browsers that block storage reject the call or throw, and an exception here would keep the views from loading.
  const register = async (): Promise<unknown> => navigator.serviceWorker.register('./service-worker.js');
  void update()
    .catch(() => undefined)
    .then(() => {
      start();
      register().catch(() => undefined);
    });
} else start();
