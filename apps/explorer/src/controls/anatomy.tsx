/** A part of a file or folder: the class of its colour, its width, and its purpose. */
export interface AnatomyPart {
  readonly colour: string;
  readonly share: number;
  readonly title: string;
  readonly text: string;
}

/** A picture of the parts of a file or folder, shown before anything is open. */
export function Anatomy({ label, parts }: { readonly label: string; readonly parts: readonly AnatomyPart[] }) {
  return (
    <ol class="anatomy" aria-label={label} style={{ '--columns': parts.map(({ share }) => `minmax(0, ${share}fr)`).join(' ') }}>
      {parts.map(({ colour, title, text }) => (
        <li key={title} class={`anatomy-part is-${colour}`}>
          <span class="anatomy-bar" aria-hidden="true" />
          <h2>{title}</h2>
          <p class="muted small">{text}</p>
        </li>
      ))}
    </ol>
  );
}
