import { useEffect, useState } from 'preact/hooks';
import type { StorageKind } from '@bloom/web-storage';
import { byteSize } from '../controls/sizes.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import type { StorageClient } from './storage-client.js';
import type { FolderFacts, OutlineNode, Outlines } from './storage-facts.js';
import { isSamePlace, type StoragePlace } from './storage-place.js';

const GROUPS: readonly (readonly [kind: StorageKind | undefined, title: string])[] = [
  ['indexeddb', 'IndexedDB'],
  ['local-storage', 'Local Storage'],
  ['session-storage', 'Session Storage'],
  [undefined, 'Other databases'],
];

/** Up to this number of folders, all of them start open. */
const FEW_FOLDERS = 6;

interface OutlineProps {
  readonly client: StorageClient;
  readonly outlines: Outlines;
  readonly onOpen: (path: string) => void;
}

/** The folders, databases, stores, indexes, origins and tabs whose rows can be listed. */
export function StorageOutline({ client, outlines, onOpen }: OutlineProps) {
  const session = useSession();
  const stored = useSessionState((state) => state.stored);
  const [name, setName] = useState('');
  const show = (place: StoragePlace): void => session.show('storage', { stored: { ...place, find: stored.find, hasVersions: stored.hasVersions } });
  const { folders } = client;
  const wanted = name.toLowerCase();
  return (
    <nav class="card storage-outline" aria-label="Stored data">
      {folders.length > FEW_FOLDERS && (
        <input type="search" aria-label="Find a folder" placeholder="Find an origin" value={name} spellcheck={false} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      )}
      <button type="button" class="outline-name" aria-current={isSamePlace(stored, {}) ? 'true' : undefined} onClick={() => show({})}>
        Everything
      </button>
      {GROUPS.map(([kind, title]) => {
        const inGroup = folders.filter(({ storage, title: each }) => storage === kind && each.toLowerCase().includes(wanted));
        return (
          inGroup.length > 0 && (
            <section key={title} aria-label={title}>
              <h2>{title}</h2>
              <ul>
                {inGroup.map((folder) =>
                  kind === undefined ? (
                    <li key={folder.path}>
                      <OtherDatabase client={client} folder={folder} />
                    </li>
                  ) : (
                    <FolderItem key={folder.path} folder={folder} isSoleOfKind={inGroup.length === 1} startsOpen={folders.length <= FEW_FOLDERS} outlines={outlines} onOpen={onOpen} shown={stored} onShow={show} />
                  ),
                )}
              </ul>
            </section>
          )
        );
      })}
    </nav>
  );
}

function OtherDatabase({ client, folder: { path, title, byteLength } }: { readonly client: StorageClient; readonly folder: FolderFacts }) {
  const session = useSession();
  const open = (): void => {
    const found = client.origin.folders.find((folder) => folder.path === path);
    if (found !== undefined) session.openDatabase({ kind: 'files', name: path === '' ? client.origin.name : path, files: found.files });
  };
  return (
    <button type="button" class="outline-name" title={`Open ${path} in the database view`} onClick={open}>
      {title} <span class="muted small">{byteSize(byteLength)}</span>
    </button>
  );
}

interface FolderItemProps {
  readonly folder: FolderFacts;
  /** Whether it is the only folder of its kind, which the group's name then describes. */
  readonly isSoleOfKind: boolean;
  readonly startsOpen: boolean;
  readonly outlines: Outlines;
  readonly onOpen: (path: string) => void;
  readonly shown: StoragePlace;
  readonly onShow: (place: StoragePlace) => void;
}

function FolderItem({ folder: { path, title, byteLength, storage }, isSoleOfKind, startsOpen, outlines, onOpen, shown, onShow }: FolderItemProps) {
  const [isOpen, setOpen] = useState(startsOpen || shown.folder === path);
  const outline = outlines.get(path);
  useEffect(() => {
    if (isOpen && outline === undefined) onOpen(path);
  }, [isOpen]);
  const place = { folder: path };
  const isPlain = isSoleOfKind && storage !== 'indexeddb';
  return (
    <li>
      <Line
        title={isPlain ? 'All origins' : title.replace(/^IndexedDB of /u, '')}
        detail={byteSize(byteLength)}
        isOpen={isOpen}
        onToggle={() => setOpen(!isOpen)}
        isShown={isSamePlace(shown, place)}
        onShow={() => {
          setOpen(true);
          onShow(place);
        }}
      />
      {isOpen && outline === undefined && <p class="muted small" role="status">Reading…</p>}
      {isOpen && outline !== undefined && !Array.isArray(outline) && 'message' in outline && (
        <>
          <FailureNotice failure={outline} title="This folder could not be read." />
          <p class="small">“Include deleted and overwritten rows” lists what is still there.</p>
        </>
      )}
      {isOpen && Array.isArray(outline) && <Nodes nodes={outline as readonly OutlineNode[]} shown={shown} onShow={onShow} />}
    </li>
  );
}

interface NodesProps {
  readonly nodes: readonly OutlineNode[];
  readonly shown: StoragePlace;
  readonly onShow: (place: StoragePlace) => void;
}

/** The number of nodes of a level that are shown before the user requests all. */
const FEW_NODES = 200;

function Nodes({ nodes, shown, onShow }: NodesProps) {
  const [limit, setLimit] = useState(FEW_NODES);
  if (nodes.length === 0) return <p class="muted small">Nothing is stored here.</p>;
  return (
    <ul>
      {nodes.slice(0, limit).map((node, i) => (
        <NodeItem key={i} node={node} shown={shown} onShow={onShow} />
      ))}
      {nodes.length > limit && (
        <li>
          <button type="button" class="is-link" onClick={() => setLimit(limit * 4)}>
            Show more of {nodes.length}
          </button>
        </li>
      )}
    </ul>
  );
}

function NodeItem({ node, shown, onShow }: { readonly node: OutlineNode } & Omit<NodesProps, 'nodes'>) {
  const { kind, title, detail, place, children } = node;
  const holds = children.some((child) => child.place !== undefined && isSamePlace(shown, child.place));
  // Most users look for stores, not for indexes.
  const [isOpen, setOpen] = useState(kind !== 'store' || holds);
  return (
    <li>
      <Line
        title={title}
        detail={detail}
        isOpen={children.length === 0 ? undefined : isOpen}
        onToggle={() => setOpen(!isOpen)}
        isShown={place !== undefined && isSamePlace(shown, place)}
        onShow={place === undefined ? undefined : () => onShow(place)}
        kind={kind}
      />
      {isOpen && children.length > 0 && <Nodes nodes={children} shown={shown} onShow={onShow} />}
    </li>
  );
}

interface LineProps {
  readonly title: string;
  readonly detail: string;
  readonly kind?: OutlineNode['kind'];
  /** Undefined if it has no children. */
  readonly isOpen: boolean | undefined;
  readonly onToggle: () => void;
  readonly isShown: boolean;
  readonly onShow: (() => void) | undefined;
}

function Line({ title, detail, kind, isOpen, onToggle, isShown, onShow }: LineProps) {
  return (
    <div class="outline-line">
      {isOpen === undefined ? (
        <span class="outline-toggle" aria-hidden="true" />
      ) : (
        <button type="button" class="outline-toggle" aria-expanded={isOpen} aria-label={`What is in ${title}`} onClick={onToggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
        </button>
      )}
      <button type="button" class={`outline-name ${kind === undefined ? '' : `is-${kind}`}`} aria-current={isShown ? 'true' : undefined} onClick={onShow ?? onToggle}>
        {kind === 'index' && <span class="muted">index </span>}
        {title} {detail !== '' && <span class="muted small">{detail}</span>}
      </button>
    </div>
  );
}
