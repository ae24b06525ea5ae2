/** A key in a sentence or list. Leading and trailing spaces are visible, because they count. */
export function KeyName({ name }: { readonly name: string }) {
  return (
    <>
      {name.split(/(^\s+|\s{2,}|[^\S ]|\s+$)/).map((part, i) =>
        i % 2 === 0 ? part : (
          <span key={i} class="space-mark">
            {part.replace(/\s/g, (space) => (space === '\t' ? '⇥' : '␣'))}
          </span>
        ),
      )}
    </>
  );
}

/** The warning about a key whose spaces are easily overlooked; undefined for other keys. */
export function spaceWarning(key: string): string | undefined {
  const places = [/^\s/.test(key) ? 'begins' : '', /\s$/.test(key) ? 'ends' : ''].filter((place) => place !== '');
  if (key === '' || places.length === 0) return undefined;
  return `This key ${places.join(' and ')} with a space, and spaces count: without it, this would be another key with other bits.`;
}
