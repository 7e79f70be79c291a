import type { ComponentChildren } from 'preact';
import './tile.css';

interface TileProps {
  readonly label: string;
  /** Undefined while it loads: its space is reserved. */
  readonly figure: ComponentChildren;
  readonly note?: ComponentChildren;
  readonly href?: string;
}

/** One figure with its label. */
export function Tile({ label, figure, note, href }: TileProps) {
  const content = (
    <>
      <span class="label">{label}</span>
      <span class="figure">{figure ?? <span class="skeleton" />}</span>
      {note !== undefined && <span class="label">{note}</span>}
    </>
  );
  return href === undefined ? (
    <div class="tile">{content}</div>
  ) : (
    <a class="tile" href={href}>
      {content}
    </a>
  );
}
