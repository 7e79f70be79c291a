import { Badge } from '../../ui/figures/badge.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Prose } from './prose.js';
import type { SchemaField } from './schema-fields.js';

interface FieldTableProps {
  readonly caption: string;
  readonly fields: readonly SchemaField[];
}

/** Shows nothing if there are no fields, as for a file. */
export function FieldTable({ caption, fields }: FieldTableProps) {
  if (fields.length === 0) return <p class="soft small">{caption}</p>;
  return (
    <>
      <h3>{caption}</h3>
      <Table caption={caption} columns={COLUMNS} rows={fields} rowKey={({ name }) => name} />
    </>
  );
}

const COLUMNS: readonly Column<SchemaField>[] = [
  {
    head: 'Field',
    isName: true,
    below: ({ type, notes }) => (
      <>
        {type}
        <Notes notes={notes} />
      </>
    ),
    cell: ({ name, isRequired }) => (
      <span class="docs-field">
        <span class="mono">{name}</span>
        {isRequired && <Badge>required</Badge>}
      </span>
    ),
  },
  { head: 'Type', ifWide: true, cell: ({ type }) => <span class="docs-type">{type}</span> },
  {
    head: 'Notes',
    kind: 'grow',
    ifWide: true,
    cell: ({ notes }) => <Notes notes={notes} />,
  },
];

function Notes({ notes }: Pick<SchemaField, 'notes'>) {
  return (
    <span class="docs-note small">
      <Prose text={notes.join(' ')} />
    </span>
  );
}
