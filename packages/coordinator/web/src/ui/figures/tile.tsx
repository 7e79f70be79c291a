import type { ComponentChildren } from 'preact';
import './tile.css';

interface TileProps {
  readonly label: string;
  /** Undefined while it loads: its space is reserved. */
  readonly figure: ComponentChildren;
  readonly note?: ComponentChildren;
  /** Below the figure, such as its last hours. */
  readonly chart?: ComponentChildren;
  readonly href?: string;
}

/** One figure with its label. */
export function Tile({ label, figure, note, chart, href }: TileProps) {
  const content = (
    <>
      <span class="label">{label}</span>
      <span class="figure">{figure ?? <span class="skeleton" />}</span>
      {note !== undefined && <span class="label">{note}</span>}
      {chart}
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
