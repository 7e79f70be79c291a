/** What the playground keeps while one goes to another tab of it, or to another screen. */
import { Cell } from '../../api/cell.js';
import { session } from '../../api/session.js';

/**
 * Made anew when somebody logs out: whoever comes next sees nothing of it. Of the `blob:` addresses
 * that `blobsOf` tells, each is revoked as soon as the cell has it no more.
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

/** Changes some of what a cell holds. */
export function change<T extends object>(cell: Cell<T>, changes: Partial<T>): void {
  cell.value = { ...cell.value, ...changes };
}
