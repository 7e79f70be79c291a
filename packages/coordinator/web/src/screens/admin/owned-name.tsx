import type { ComponentChildren } from 'preact';

interface OwnedNameProps {
  readonly name: string;
  /** Whose it is, or what else tells it apart. */
  readonly note: string;
  readonly children?: ComponentChildren;
}

/** Names are told apart by their owners only, where those of everybody stand in one list. */
export function OwnedName({ name, note, children }: OwnedNameProps) {
  return (
    <span class="admin-name">
      {name}
      {children}
      <span class="soft small">{note}</span>
    </span>
  );
}
