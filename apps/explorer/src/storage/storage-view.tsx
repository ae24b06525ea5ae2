import '../table/table.css';
import './storage.css';
import { counted } from '@bloom/report';
import { useEffect, useState } from 'preact/hooks';
import { Drop } from '../controls/controls.js';
import { DropAgain, Opening } from '../controls/opening.js';
import { Rows } from '../controls/rows.js';
import { byteSize } from '../controls/sizes.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { STORED_DATA_GUIDE } from '../shell/links.js';
import { FailureNotice } from '../table/failure-notice.js';
import { type FailureFacts, failureFacts } from '../worker/failure.js';
import { sampleProfile } from './profile-origin.js';
import { RecordBrowser } from './record-browser.js';
import type { StorageClient } from './storage-client.js';
import type { OutlineNode, Outlines } from './storage-facts.js';
import { StorageOutline } from './storage-outline.js';

/** The folders in which browsers and apps keep their profiles. */
const PLACES: readonly (readonly [program: string, windows: string, mac: string, linux: string])[] = [
  ['Chrome', '%LOCALAPPDATA%\\Google\\Chrome\\User Data\\Default', '~/Library/Application Support/Google/Chrome/Default', '~/.config/google-chrome/Default'],
  ['Edge', '%LOCALAPPDATA%\\Microsoft\\Edge\\User Data\\Default', '~/Library/Application Support/Microsoft Edge/Default', '~/.config/microsoft-edge/Default'],
  ['Electron apps', '%APPDATA%\\APP', '~/Library/Application Support/APP', '~/.config/APP'],
];

/** The stored data of a browser or an app: IndexedDB, Local Storage and Session Storage, with their values. */
export function StorageView() {
  const session = useSession();
  const { client, opening, failed, lost } = useSessionState((state) => state.storage);
  return (
    <div class="page storage-view">
      {opening !== undefined && <Opening name={opening.name} onCancel={() => session.cancelProfile()} />}
      {failed !== undefined && <FailureNotice failure={failed.failure} title={`${failed.origin.name} could not be opened.`} />}
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>What a browser stored</h1>
            <p class="lead">Chrome, Edge and Electron apps keep IndexedDB, Local Storage and Session Storage in LevelDB folders. Open a profile and read the values as the page stored them.</p>
          </header>
          {opening === undefined && (
            <Drop
              folder
              title="Open a profile"
              explanation="Drop a whole profile, the folder of an app, or one of their folders. It stays on your machine and is never changed. The browser may be running."
              sampleLabel="Open the sample"
              onFiles={(files) => session.take(files)}
              onSample={() => session.openProfile(sampleProfile)}
            >
              {lost !== undefined && <DropAgain name={lost} what="folder" />}
            </Drop>
          )}
          {opening === undefined && <WhereToLook />}
        </>
      ) : (
        <OpenProfile key={client} client={client} />
      )}
    </div>
  );
}

function WhereToLook() {
  return (
    <section class="card" aria-labelledby="where-title">
      <div class="card-head">
        <h2 id="where-title">Where profiles are</h2>
        <a href={STORED_DATA_GUIDE}>More apps, and what cannot be decoded</a>
      </div>
      <div class="scrolls" tabIndex={0} role="region" aria-label="Folders of programs">
        <Rows label="Where programs store data" headings={['', 'Windows', 'macOS', 'Linux']}>
          {PLACES.map(([program, ...paths]) => (
            <tr key={program}>
              <th scope="row">{program}</th>
              {paths.map((path) => (
                <td key={path}>
                  <code>{path}</code>
                </td>
              ))}
            </tr>
          ))}
        </Rows>
      </div>
    </section>
  );
}

function OpenProfile({ client }: { readonly client: StorageClient }) {
  const session = useSession();
  const { folder } = useSessionState((state) => state.stored);
  const [outlines, setOutlines] = useState<Outlines>(new Map());
  const { folders, origin } = client;
  const open = (path: string): void => {
    const known = (outline: readonly OutlineNode[] | FailureFacts): void => setOutlines((before) => new Map(before).set(path, outline));
    client.worker.outline(path).then(known, (error: unknown) => known(failureFacts(error)));
  };
  useEffect(() => {
    if (folder !== undefined && !outlines.has(folder) && folders.some(({ path }) => path === folder)) open(folder);
  }, [client, folder]);
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">{origin.name}</h1>
          <div class="row">
            {origin.again !== undefined && (
              <button type="button" title="Shows what the browser has written in the meantime" onClick={() => void session.rereadProfile(origin)}>
                Read again
              </button>
            )}
            <button type="button" onClick={() => session.closeProfile()}>
              Open another
            </button>
          </div>
        </div>
        <ul class="chips" aria-label="About the profile">
          <li class="chip">{byteSize(folders.reduce((sum, { byteLength }) => sum + byteLength, 0))}</li>
          <li class="chip">{counted(folders.length, 'LevelDB folder')}</li>
          {origin.unread !== undefined && origin.unread > 0 && (
            <li class="chip is-warn" title="The browser refused to read them, or there are more than 100,000 names before them">
              {counted(origin.unread, 'folder or file', 'folders or files')} not read
            </li>
          )}
        </ul>
      </header>
      <div class="storage-layout">
        <StorageOutline client={client} outlines={outlines} onOpen={open} />
        <RecordBrowser client={client} outlines={outlines} />
      </div>
    </>
  );
}
