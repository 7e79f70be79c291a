/** State of the playground that survives a change of the tab or the screen. */
import { Cell } from '../../api/cell.js';
import { session } from '../../api/session.js';

/**
 * The state is reset at a log-out, so that the next member does not see it. A `blob:` URL that
 * `blobsOf` returns is revoked as soon as the state no longer contains it.
 */
export function keptCell<T>(
  make: () => T,
  blobsOf: (value: T) => readonly string[] = () => [],
): Cell<T> {
  const cell = new Cell(make());
  let blobs = blobsOf(cell.value);
  cell.watch(() => {
    const left = blobsOf(cell.value);
    for (const url of blobs) if (!left.includes(url)) URL.revokeObjectURL(url);
    blobs = left;
  });
  session.watch(() => {
    if (session.value === null) cell.value = make();
  });
  return cell;
}

/** Changes some fields of a cell's value. */
export function change<T extends object>(cell: Cell<T>, changes: Partial<T>): void {
  cell.value = { ...cell.value, ...changes };
}
