import { readMy, useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useFurther } from '../../api/pages.js';
import type { Page } from '../../api/pages.js';
import { Badge } from '../../ui/figures/badge.js';
import { CopyIcon } from '../../ui/button/copy.js';
import { formatMs, formatShort, plural } from '../../ui/text/format.js';
import { statusLabel } from '../../ui/text/labels.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { Short, Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Ago } from '../../ui/text/time.js';
import { thumbOf } from '../../ui/work/thumb.js';
import { WorkName } from '../../ui/work/work-name.js';

type Answer = MyResult<'usage.recent'>;
type Request = Answer['requests'][number] & { readonly id: string };

const LIMIT = 25;
/** There are hints for jobs, but not for synchronous calls. */
const EVERY_MS = 3_000;

/** The member's latest requests, from all sources; a new one appears within seconds. */
export function RecentRequests() {
  const first = useMy('usage.recent', { limit: LIMIT, after: null }, { everyMs: EVERY_MS });
  const pages = useFurther(
    'recent',
    { ...first, data: first.data && toPage(first.data), refresh: () => first.refresh() },
    async (after, limit = LIMIT) => toPage(await readMy('usage.recent', { limit, after })),
  );
  return (
    <section class="section usage-recent">
      <h2>Latest requests</h2>
      <Loaded of={pages}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">None yet.</p>
          ) : (
            <>
              <Table
                caption="Latest requests"
                saveAs="requests"
                pages={pages}
                columns={COLUMNS}
                rows={rows}
                rowKey={({ id }) => id}
                toSaved={withMeaning}
              />
              <LoadMore pages={pages} what="request" />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function toPage({ requests, has_more }: Answer): Page<Request> {
  return { data: requests.map((one) => ({ ...one, id: one.request_id })), has_more };
}

/** Usage has the codes of errors without their messages. */
async function withMeaning(): Promise<(row: Request) => object> {
  const { ERROR_ADVICE } = await import('../docs/error-advice.js');
  const advice: Readonly<Record<string, { readonly meaning: string }>> = ERROR_ADVICE;
  return (row) => ({ ...row, error_meaning: advice[row.error_code ?? '']?.meaning ?? null });
}

const MOODS = { ok: 'good', failed: 'bad', canceled: 'warn' } as const;

const COLUMNS: readonly Column<Request>[] = [
  { head: 'When', ifWide: true, cell: ({ at }) => <Ago at={at} /> },
  {
    head: 'Request',
    isName: true,
    kind: 'grow',
    below: (request) => <Below request={request} />,
    cell: (request) => <RequestName request={request} />,
  },
  {
    head: 'Outcome',
    ifWide: true,
    cell: (request) => <Outcome request={request} />,
  },
  { head: 'From, to', ifWide: true, ifRoom: true, cell: (request) => <Ends request={request} /> },
  { head: 'Amount', kind: 'number', ifWide: true, cell: (request) => <Amount request={request} /> },
  {
    head: 'Queued',
    kind: 'number',
    ifWide: true,
    cell: ({ queue_ms: ms }) => formatMs(ms),
  },
  {
    head: 'First byte',
    kind: 'number',
    ifWide: true,
    cell: ({ first_byte_ms: ms }) => (ms === null ? '–' : formatMs(ms)),
  },
  { head: 'Total', kind: 'number', ifWide: true, cell: ({ total_ms: ms }) => formatMs(ms) },
  {
    head: 'Request id',
    unseenHead: true,
    kind: 'end',
    cell: ({ id }) => <CopyIcon text={id} label={`Copy the request id ${id}`} />,
  },
];

interface RequestProps {
  readonly request: Request;
}

/** As its job or its file is called, if it has one. */
function RequestName({ request: { id, model, work } }: RequestProps) {
  const file = work?.file ?? null;
  return <WorkName work={{ ...work, model }} href={`/usage/${id}`} file={file && thumbOf(file)} />;
}

/** The key that asked, and the provider that answered. */
function Ends({ request: { source, key, provider } }: RequestProps) {
  return (
    <>
      <Short text={key ?? source} />
      {provider !== null && (
        <span class="soft small">
          <Short text={provider} />
        </span>
      )}
    </>
  );
}

interface OutcomeProps {
  readonly request: Pick<Request, 'outcome' | 'error_code'>;
}

export function Outcome({ request: { outcome, error_code: code } }: OutcomeProps) {
  return (
    <>
      <Badge dot mood={MOODS[outcome]}>
        {statusLabel(outcome)}
      </Badge>
      {code !== null && (
        <span class="error-code mono small soft" title={code}>
          {code}
        </span>
      )}
    </>
  );
}

/** Outcome, time, amount and duration. */
function Below({ request }: RequestProps) {
  return (
    <>
      <Outcome request={request} /> <Ago at={request.at} />, <Amount request={request} />,{' '}
      {formatMs(request.total_ms)}
    </>
  );
}

function Amount({ request }: RequestProps) {
  const tokens = request.prompt_tokens + request.completion_tokens;
  if (tokens === 0) return <>{mediaText(request)}</>;
  const text = `${formatShort(tokens)} tokens`;
  if (!request.estimated) return <>{text}</>;
  return (
    <span title={ESTIMATED}>
      <span class="unseen">estimated </span>
      <span aria-hidden="true">~</span>
      {text}
    </span>
  );
}

/** Docs: `docs/api.md#tokens`. */
const ESTIMATED =
  'Estimated: the model server reported no count, or a higher one than the text allows.';

function mediaText({ images, audio_ms: ms }: Request): string {
  if (images > 0) return plural(images, 'image');
  return ms > 0 ? formatMs(ms) : '–';
}
