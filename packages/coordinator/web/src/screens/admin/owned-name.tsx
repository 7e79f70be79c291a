import type { ComponentChildren } from 'preact';

interface OwnedNameProps {
  readonly name: string;
  /** The owner, or another distinction. */
  readonly note: string;
  readonly children?: ComponentChildren;
}

/**
 * A name with its owner: names are unique per owner only, and these lists show those of all
 * members.
 */
export function OwnedName({ name, note, children }: OwnedNameProps) {
  return (
    <span class="admin-name">
      {name}
      {children}
      <span class="soft small" title={note}>
        {note}
      </span>
    </span>
  );
}
