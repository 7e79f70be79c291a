import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import type { Snapshot } from '../../api/snapshot.js';
import { Button } from '../../ui/button/button.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { Loaded } from '../../ui/table/loaded.js';
import { MAX_ROWS } from '../../ui/table/load-more.js';
import { useClearQuery } from '../../ui/form/query.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column, TableProps } from '../../ui/table/table.js';
import { FacetBar, chosenOf } from './facet-bar.js';
import type { Facet } from './facet-bar.js';
import { RowMenu } from '../../ui/table/row-menu.js';
import type { RowAction } from '../../ui/table/row-menu.js';

/** The minimum that a row must have. */
export interface ListRow {
  readonly id: string;
}

export interface RowsProps<Row extends ListRow> extends Pick<TableProps<Row>, 'allRows' | 'pages'> {
  /** Title of the list: `Members`. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** The name of a row, for the accessible name of its menu. */
  readonly nameOf: (row: Row) => string;
  readonly actionsOf?: (row: Row) => readonly RowAction[];
  readonly onDone: () => Promise<void>;
}

interface ListingProps<Row extends ListRow> extends Omit<RowsProps<Row>, 'onDone'> {
  readonly list: Pick<Snapshot<readonly Row[]>, 'data' | 'fault' | 'refresh'>;
  /** Singular noun, and the plural if it does not end in s. */
  readonly what: string;
  readonly many?: string;
  /** The texts that the search looks in. */
  readonly wordsOf: (row: Row) => readonly (string | null)[];
  readonly facets?: readonly (Facet & { readonly fits: (row: Row, value: string) => boolean })[];
  /** The main action of the list, beside the search. */
  readonly action?: ComponentChildren;
  /** The next step if the list is empty. */
  readonly emptyText: string;
}

/** Rows shown at first; more are shown on request. */
const ROWS = 100;

/** A list that is loaded whole, and is searched and filtered in the browser. */
export function Listing<Row extends ListRow>(props: ListingProps<Row>) {
  const { list, what, many = `${what}s`, facets = [], action } = props;
  return (
    <>
      <FacetBar facets={facets} searches={many} action={action} />
      <Loaded of={list} rows={8}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={`There are no ${many} yet.`} text={props.emptyText} />
          ) : (
            <Found {...props} rows={rows} many={many} />
          )
        }
      </Loaded>
    </>
  );
}

interface FoundProps<Row extends ListRow> extends ListingProps<Row> {
  readonly rows: readonly Row[];
  readonly many: string;
}

function Found<Row extends ListRow>(props: FoundProps<Row>) {
  const { list, what, many, rows } = props;
  const { query } = useLocation();
  const clear = useClearQuery();
  const [limit, setLimit] = useState(ROWS);
  const fitting = rows.filter((row) => fits(row, props, query));
  if (fitting.length === 0) return <NoMatch what={many} onClear={clear} />;
  const shown = fitting.slice(0, limit);
  return (
    <>
      <Rows {...props} rows={shown} allRows={fitting} onDone={list.refresh} />
      <p class="list-foot soft small">
        {shown.length < fitting.length
          ? `${formatCount(shown.length)} of ${plural(fitting.length, what, many)}`
          : plural(shown.length, what, many)}
        {shown.length < Math.min(fitting.length, MAX_ROWS) && (
          <Button small onClick={() => setLimit(limit + ROWS)}>
            Show more
          </Button>
        )}
      </p>
    </>
  );
}

function fits<Row extends ListRow>(
  row: Row,
  { wordsOf, facets = [] }: ListingProps<Row>,
  query: Readonly<Record<string, string>>,
): boolean {
  const wanted = (query['q'] ?? '').trim().toLowerCase();
  const isFound = wordsOf(row).some((word) => (word ?? '').toLowerCase().includes(wanted));
  return (
    isFound &&
    facets.every((facet) => {
      const chosen = chosenOf(facet, query);
      return chosen === '' || facet.fits(row, chosen);
    })
  );
}

/** The rows, each with a menu of its actions. */
export function Rows<Row extends ListRow>(
  props: RowsProps<Row> & { readonly rows: readonly Row[] },
) {
  const { caption, columns, rows, nameOf, actionsOf, onDone, allRows, pages } = props;
  const actions: Column<Row> = {
    head: 'Actions',
    unseenHead: true,
    kind: 'end',
    cell: (row) => <RowMenu name={nameOf(row)} actions={actionsOf?.(row) ?? []} onDone={onDone} />,
  };
  return (
    <Table
      caption={caption}
      saveAs={caption.toLowerCase()}
      columns={actionsOf === undefined ? columns : [...columns, actions]}
      rows={rows}
      rowKey={({ id }) => id}
      {...(allRows && { allRows })}
      {...(pages && { pages })}
    />
  );
}
