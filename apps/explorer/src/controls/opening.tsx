/** What is being opened, with a button that cancels it. */
export function Opening({ name, onCancel }: { readonly name: string; readonly onCancel: () => void }) {
  return (
    <p role="status" class="notice">
      Opening {name}…{' '}
      <button type="button" class="is-link" onClick={onCancel}>
        Cancel
      </button>
    </p>
  );
}

/** Asks for a local file or folder to which a link refers. */
export function DropAgain({ name, what }: { readonly name: string; readonly what: 'file' | 'folder' }) {
  return <p class="notice is-warn">“{name}” is a local {what}, which the page cannot open by itself. Drop it here to continue.</p>;
}
