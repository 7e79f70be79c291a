import { Cell, useCell } from '../../api/cell.js';

/** Where tables leave columns out: the same width as in style/parts.css. */
const query = matchMedia('(max-width: 40rem)');
const narrow = new Cell(query.matches);
query.addEventListener('change', ({ matches }) => {
  narrow.value = matches;
});

/** Whether the screen is as narrow as a phone. */
export function useNarrow(): boolean {
  return useCell(narrow);
}
