import type { ComponentChildren } from 'preact';
import { Cell, useCell } from '../../api/cell.js';
import type { AllRows } from './all-rows.js';
import { SaveRows } from './save-rows.js';
import './table.css';

export interface Column<Row> {
  /** The column's heading; `unseenHead` hides it, as for columns of buttons. */
  readonly head: string;
  readonly unseenHead?: boolean;
  /** Numbers are aligned to the right. */
  readonly kind?: 'text' | 'number' | 'end' | 'grow';
  /** Left out on narrow screens. */
  readonly ifWide?: boolean;
  /** Left out where the table has less room than on a laptop. */
  readonly ifRoom?: boolean;
  /** This cell names the row; at most one column. */
  readonly isName?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** On narrow screens: the values of left-out columns, on a line below the name. */
  readonly below?: (row: Row) => ComponentChildren;
}

export interface TableProps<Row> extends AllRows<Row> {
  /** Its accessible name. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Whether it may be wider than the screen, because its number of columns depends on the data. */
  readonly isWide?: boolean;
  /** Offers the rows as files of this name: `jobs`. */
  readonly saveAs?: string;
  /** All rows of the list, if more are loaded than are shown. */
  readonly allRows?: readonly Row[];
}

/** A table element, which scrolls horizontally if it is too wide. */
export function Table<Row extends object>(props: TableProps<Row>) {
  const { caption, columns: all, rows, rowKey, isWide = false, saveAs } = props;
  const isNarrow = useNarrow();
  const columns = isNarrow ? all.filter(({ ifWide = false }) => !ifWide).map(folded) : all;
  const table = (
    <div
      class={isWide ? 'table-scroll wide' : 'table-scroll'}
      tabIndex={0}
      role="region"
      aria-label={caption}
    >
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.unseenHead ? <span class="unseen">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>{columns.map((column) => cellOf(column, row))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
  if (saveAs === undefined) return table;
  return (
    <>
      {table}
      <SaveRows {...props} name={saveAs} rows={props.allRows ?? rows} />
    </>
  );
}

function folded<Row>(column: Column<Row>): Column<Row> {
  const { cell, below } = column;
  if (below === undefined) return column;
  return {
    ...column,
    kind: 'grow',
    cell: (row) => (
      <>
        {cell(row)}
        <span class="below small soft">{below(row)}</span>
      </>
    ),
  };
}

function cellOf<Row>(column: Column<Row>, row: Row) {
  const content = column.cell(row);
  return column.isName ? (
    <th key={column.head} scope="row" class={classOf(column)}>
      <span class="named">{content}</span>
    </th>
  ) : (
    <td key={column.head} class={classOf(column)}>
      {content}
    </td>
  );
}

function classOf<Row>({ kind = 'text', isName = false, ifRoom = false }: Column<Row>): string {
  return [isName ? 'name' : '', kind === 'text' ? '' : kind, ifRoom ? 'if-room' : '']
    .filter((one) => one !== '')
    .join(' ');
}

/** A name that is not the row's: one line of it, the rest on hover. */
export function Short({ text }: { readonly text: string }) {
  return (
    <span class="short" title={text}>
      {text}
    </span>
  );
}

/** The width at which tables leave out columns: the same as in style/parts.css. */
const query = matchMedia('(max-width: 40rem)');

const narrow = new Cell(query.matches);

query.addEventListener('change', ({ matches }) => {
  narrow.value = matches;
});

/** Whether the screen is as narrow as a phone. */
function useNarrow(): boolean {
  return useCell(narrow);
}
