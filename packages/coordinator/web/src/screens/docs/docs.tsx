import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { ERRORS } from '@inference-gateway/shared/errors';
import type { ErrorCode } from '@inference-gateway/shared/errors';
import { LinkButton } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { Page } from '../../ui/page.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import { TextField } from '../../ui/form/field.js';
import { useClearQuery, useQuery } from '../../ui/form/query.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { EndpointView } from './endpoint-view.js';
import type { OpenApiDocument } from './open-api.js';
import { Prose } from './prose.js';
import { ERROR_ADVICE } from './error-advice.js';
import './docs.css';
import { DOCUMENT, groupsOf, searched, useDocument } from './open-api.js';
import { QuickStart } from './quick-start.js';

const TABS = [
  { href: '/docs', text: 'Quick start' },
  { href: '/docs/endpoints', text: 'Endpoints' },
  { href: '/docs/errors', text: 'Errors' },
];

const ROWS: readonly Row[] = codesOf(ERROR_ADVICE).map((code) => ({
  code,
  ...ERRORS[code],
  ...ERROR_ADVICE[code],
}));

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

const PARTS = new Map<string, ComponentType>([
  ['', QuickStart],
  ['endpoints', Endpoints],
  ['errors', Errors],
]);

export function Docs() {
  const part = useRoute().params['part'] ?? '';
  const Part = PARTS.get(part) ?? Unknown;
  // Opens in a new tab: the document is not a screen of this page.
  const actions = (
    <a class="button" href={DOCUMENT} target="_blank" rel="noreferrer">
      <Icon name="external-link" />
      OpenAPI document
    </a>
  );
  return (
    <Page title="Docs" actions={actions}>
      <Tabs label="Docs" tabs={TABS} />
      <Part />
    </Page>
  );
}

function Unknown() {
  return (
    <Empty title="There is no such part of the docs.">
      <LinkButton href="/docs">Go to the quick start</LinkButton>
    </Empty>
  );
}

/** All endpoints, folded: their contents are rendered when they are opened. */
function Endpoints() {
  const openApi = useDocument();
  const [words, setWords] = useQuery('q');
  return (
    <>
      <search>
        <div class="docs-search">
          <TextField label="Search endpoints" type="search" value={words} onValue={setWords} />
        </div>
      </search>
      <Loaded of={openApi} rows={12}>
        {(document) => <Found document={document} words={words} />}
      </Loaded>
    </>
  );
}

function Found({
  document,
  words,
}: {
  readonly document: OpenApiDocument;
  readonly words: string;
}) {
  const clear = useClearQuery();
  const groups = searched(groupsOf(document), words);
  if (groups.length === 0) return <NoMatch what="endpoints" onClear={clear} />;
  return (
    <>
      {groups.map(({ name, description, endpoints }) => (
        <section key={name} class="section">
          <h2>{name}</h2>
          <p class="soft docs-about">
            <Prose text={description} />
          </p>
          <div class="docs-endpoints">
            {endpoints.map((endpoint) => (
              <EndpointView
                key={endpoint.operation.operationId}
                document={document}
                endpoint={endpoint}
              />
            ))}
          </div>
        </section>
      ))}
    </>
  );
}

interface Row {
  readonly code: ErrorCode;
  readonly status: number;
  readonly type: string;
  readonly meaning: string;
  readonly todo: string;
}

function codesOf(advice: typeof ERROR_ADVICE): readonly ErrorCode[] {
  return Object.keys(advice).filter((code): code is ErrorCode => code in ERRORS);
}

/** All error codes that a caller can get. */
function Errors() {
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
