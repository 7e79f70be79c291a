import { ERRORS } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { TextField } from '../../ui/form/field.js';
import { useClearQuery, useQuery } from '../../ui/form/query.js';
import { NoMatch } from '../../ui/table/states.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { ERROR_ADVICE } from './error-advice.js';
import { Prose } from './prose.js';

interface Row {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly meaning: string;
  readonly todo: string;
}

const ROWS: readonly Row[] = codesOf(ERROR_ADVICE).map((code) => ({
  code,
  ...ERRORS[code],
  ...ERROR_ADVICE[code],
}));

function codesOf(advice: typeof ERROR_ADVICE): readonly ErrorCode[] {
  return Object.keys(advice).filter((code): code is ErrorCode => code in ERRORS);
}

/** Every code that a caller can meet. */
export function Errors() {
  const [words, setWords] = useQuery('q');
  const clear = useClearQuery();
  const wanted = words.trim().toLowerCase();
  const rows = ROWS.filter((row) => Object.values(row).join(' ').toLowerCase().includes(wanted));
  return (
    <>
      <div>
        <p class="reading docs-about">
          Every error has one form: <code>{'{"error": {"message", "type", "code", "param"}}'}</code>
          . Program against <code>code</code>; <code>message</code> says what to do in this very
          case.
        </p>
      </div>
      <search>
        <div class="docs-search">
          <TextField label="Search errors" type="search" value={words} onValue={setWords} />
        </div>
      </search>
      {rows.length === 0 ? (
        <NoMatch what="errors" onClear={clear} />
      ) : (
        <Table caption="Errors" columns={COLUMNS} rows={rows} rowKey={({ code }) => code} />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    head: 'Code',
    isName: true,
    below: (row) => <Meaning row={row} />,
    cell: ({ code, status, type }) => (
      <span class="docs-code">
        <span class="mono">{code}</span>
        <span class="soft small">
          {status} <span class="mono">{type}</span>
        </span>
      </span>
    ),
  },
  { head: 'Meaning', kind: 'grow', ifWide: true, cell: (row) => <Meaning row={row} /> },
];

function Meaning({ row: { meaning, todo } }: { readonly row: Row }) {
  return (
    <span class="docs-notes">
      <span>
        <Prose text={meaning} />
      </span>
      <span class="soft">
        <Prose text={todo} />
      </span>
    </span>
  );
}
