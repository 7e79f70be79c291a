/** What the playground keeps while one goes to another tab of it, or to another screen. */
import { Cell } from '../../api/cell.js';
import { session } from '../../api/session.js';

/** Made anew when somebody logs out: whoever comes next sees nothing of it. */
export function keptCell<T>(make: () => T): Cell<T> {
  const cell = new Cell(make());
  session.watch(() => {
    if (session.value === null) cell.value = make();
  });
  return cell;
}

/** Changes some of what a cell holds. */
export function change<T extends object>(cell: Cell<T>, changes: Partial<T>): void {
  cell.value = { ...cell.value, ...changes };
}
