import { count, counted } from '@bloom/report';
import { useEffect, useState } from 'preact/hooks';
import type { StorageClient } from './storage-client.js';
import { StoredFile } from './stored-file.js';
import type { NodeFacts } from './storage-facts.js';

/** The number of parts that are shown before the user requests more. */
const PORTION = 100;

/** A value as a tree whose parts are read when they are opened. */
export function ValueTreeView({ client, root }: { readonly client: StorageClient; readonly root: NodeFacts }) {
  return (
    <ul class="value-tree" key={root.id} aria-label="Value">
      <TreeNode key={root.id} client={client} node={root} startsOpen />
    </ul>
  );
}

export function TreeNode({ client, node, startsOpen = false }: { readonly client: StorageClient; readonly node: NodeFacts; readonly startsOpen?: boolean }) {
  const { id, label, type, text, childCount, sameAs } = node;
  // Elements of typed arrays are rarely of interest.
  const [isOpen, setOpen] = useState(startsOpen && childCount > 0 && node.file === undefined);
  const [parts, setParts] = useState<readonly NodeFacts[]>([]);
  const [limit, setLimit] = useState(PORTION);
  useEffect(() => {
    let current = true;
    // A call fails if the worker was closed or has moved on to another row.
    if (isOpen && parts.length < Math.min(limit, childCount)) client.worker.children(id, 0, limit).then((found) => current && setParts(found), () => undefined);
    return () => void (current = false);
  }, [isOpen, limit]);
  const name = label === undefined ? undefined : <span class="tree-label">{label}: </span>;
  const isLeaf = childCount === 0;
  return (
    <li>
      {isLeaf ? (
        <span class="tree-line">
          <span class="tree-toggle" aria-hidden="true" />
          <span>
            {name}
            {sameAs === undefined ? <Leaf client={client} node={node} /> : <span class="tree-type">↑ the same {type} as {sameAs}</span>}
          </span>
        </span>
      ) : (
        <button type="button" class="tree-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <span class="tree-toggle" aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <span>
            {name}
            <span class="tree-type">{type}</span> {!isOpen && <span class="tree-text muted">{text}</span>}
          </span>
        </button>
      )}
      {node.file !== undefined && sameAs === undefined && <StoredFile client={client} node={node} file={node.file} />}
      {isOpen && (
        <ul>
          {parts.map((part) => (
            <TreeNode key={part.id} client={client} node={part} />
          ))}
          {parts.length >= limit && parts.length < childCount && (
            <li>
              <button type="button" class="is-link" onClick={() => setLimit(limit + 10 * PORTION)}>
                Show more of {counted(childCount, 'part')}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

const QUIET_TYPES = ['string', 'number', 'boolean', 'bigint', 'null', 'undefined'];

function Leaf({ client, node: { id, type, text, textLength } }: { readonly client: StorageClient; readonly node: NodeFacts }) {
  const [whole, setWhole] = useState<string>();
  return (
    <>
      {!QUIET_TYPES.includes(type) && <span class="tree-type">{type} </span>}
      <span class={`tree-text is-${type.toLowerCase()}`}>{whole ?? text}</span>
      {textLength !== undefined && whole === undefined && (
        <>
          {' '}
          <button type="button" class="is-link" onClick={() => void client.worker.text(id).then(setWhole, () => undefined)}>
            Show all {count(textLength)} characters
          </button>
        </>
      )}
    </>
  );
}
