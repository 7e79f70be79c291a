import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { useLocation, useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { LinkButton } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { Icon } from '../../ui/button/icon.js';
import { Media, kindOf } from '../../ui/markdown/media.js';
import { Page } from '../../ui/page.js';
import { Empty, Unanswered } from '../../ui/table/states.js';
import { Facts } from '../../ui/text/facts.js';
import { formatCount, formatEnergy, formatMs, formatSpeed } from '../../ui/text/format.js';
import { typeLabel } from '../../ui/text/labels.js';
import { Told } from '../../ui/text/told.js';
import { Timeline } from '../../ui/work/timeline.js';
import type { Moment } from '../../ui/work/timeline.js';
import { workName } from '../../ui/work/work-name.js';
import { ERROR_ADVICE } from '../docs/error-advice.js';
import { Prose } from '../docs/prose.js';
import '../jobs/jobs.css';
import { Outcome } from './recent-requests.js';

type OneRequest = MyResult<'usage.request'>;

/** A request has a page once it has ended. */
const UNTIL_THEN_MS = 2_000;

/** A request of the member, by its `x-request-id`. */
export function Request() {
  const { params } = useRoute();
  const { path } = useLocation();
  const id = params['id'] ?? path.split('/')[2] ?? '';
  return <Asked key={id} id={id} />;
}

function Asked({ id }: { readonly id: string }) {
  const [everyMs, setEveryMs] = useState<number | null>(UNTIL_THEN_MS);
  const request = useMy('usage.request', { request: id }, { everyMs });
  const { data, fault, refresh } = request;
  if (data !== undefined && everyMs !== null) setEveryMs(null);
  if (data === undefined) {
    return (
      <Page title="Request">
        <Unanswered fault={fault} onRetry={() => void refresh()}>
          <Empty icon="search" title={`There is no request ${id} of yours.`} text={GONE}>
            <LinkButton href="/usage">Latest requests</LinkButton>
          </Empty>
        </Unanswered>
      </Page>
    );
  }
  const { alias, model, work } = data;
  return (
    <Page
      title="Request"
      heading={
        <span class="job-name" dir="auto">
          <span class="unseen">Request: </span>
          {workName({ ...work, model: alias ?? model })}
        </span>
      }
      actions={
        <LinkButton href="/usage" tone="quiet" icon="arrow-left">
          Usage
        </LinkButton>
      }
    >
      <RequestView request={data} />
    </Page>
  );
}

const GONE =
  'A request has a page once it has ended, unless it was refused before it reached a provider. ' +
  'After the retention time, 90 days unless the admin has set another, only its sums are kept. ' +
  'The request that submitted a job is on the page of the job.';

interface RequestProps {
  readonly request: OneRequest;
}

function RequestView({ request }: RequestProps) {
  const { error_code: code, outcome, work } = request;
  const files = work?.files ?? [];
  return (
    <div class="job-columns">
      <div>
        {outcome === 'failed' && code !== null && (
          <RequestError code={code} message={request.job_error} />
        )}
        {files.length > 0 && <Files files={files} name={workName({ ...work, ...request })} />}
        <section class="card job-about">
          <h2>About it</h2>
          <Facts rows={factsOf(request)} />
        </section>
      </div>
      <section class="card">
        <h2>Timeline</h2>
        <Timeline moments={momentsOf(request)} />
      </section>
    </div>
  );
}

function factsOf(request: OneRequest) {
  const { alias, attempts, audio_ms: audioMs, energy_j: energyJ, images } = request;
  const { key, model, source, work } = request;
  const { path, serviceType } = ENDPOINTS[request.endpoint];
  const isAliased = alias !== null && alias !== model;
  const job = work?.job ?? null;
  const batch = work?.batch ?? null;
  return [
    ['Outcome', <Outcome request={request} />],
    ['Request id', <CopyText text={request.request_id} label="Copy the request id" />],
    ['Model', <span class="mono">{alias ?? model}</span>],
    ['Served model', isAliased ? <span class="mono">{model}</span> : null],
    ['Endpoint', <span class="mono">{`/v1${path}`}</span>],
    ['Type', <span title={`${serviceType} in the API`}>{typeLabel(serviceType)}</span>],
    ['Provider', request.provider === null ? null : <Provider request={request} />],
    ['Attempts', formatCount(attempts)],
    ['From', source === 'api' ? 'API' : 'Dashboard'],
    ['API key', key],
    ['Tokens', tokensText(request)],
    ['Speed', request.tokens_per_s === null ? null : formatSpeed(request.tokens_per_s)],
    ['Audio', audioMs === 0 ? null : formatMs(audioMs)],
    ['Images', images === 0 ? null : formatCount(images)],
    ['Energy', energyJ === null ? null : <Energy joules={energyJ} />],
    ['Job', job === null ? null : <a href={`/jobs/${job}`}>{job}</a>],
    [
      'Batch',
      batch === null ? null : <a href={`/batches/${batch}`}>{work?.batch_label ?? batch}</a>,
    ],
    ['Custom id', work?.custom_id ?? null],
  ] as const;
}

/** As `OWNER/NAME`. */
function Provider({ request: { provider, own_provider: own } }: RequestProps) {
  return own === null ? <>{provider}</> : <a href={`/providers/${own}`}>{provider}</a>;
}

function tokensText({ prompt_tokens: read, completion_tokens: made, estimated }: OneRequest) {
  if (read + made === 0) return null;
  const text = `${formatCount(read)} in, ${formatCount(made)} out`;
  return estimated ? `${text} (estimated)` : text;
}

/** Docs: `docs/api.md#energy`. */
function Energy({ joules }: { readonly joules: number }) {
  return (
    <>
      {formatEnergy(joules)}
      <span class="soft">, share of the card’s power while it ran</span>
    </>
  );
}

const ENDS = {
  ok: { mood: 'good', title: 'Done' },
  failed: { mood: 'bad', title: 'Failed' },
  canceled: { mood: 'past', title: 'Canceled' },
} as const;

function momentsOf(request: OneRequest): readonly Moment[] {
  const { attempts, outcome, provider, queue_ms: queueMs, total_ms: totalMs } = request;
  const { received_at: receivedAt, sent_at: sentAt, first_byte_at: firstAt } = request;
  const waited = `after ${formatMs(queueMs)} in the queue`;
  const sent: Moment[] = [];
  if (sentAt !== null) {
    const title = attempts > 1 ? `Sent to a provider, attempt ${attempts}` : 'Sent to a provider';
    const note = provider === null ? waited : `to ${provider}, ${waited}`;
    sent.push({ key: 'sent', mood: 'past', title, at: sentAt, note });
  }
  if (firstAt !== null) {
    const note = `after ${formatMs(Math.max(0, firstAt - receivedAt))}`;
    sent.push({ key: 'first', mood: 'past', title: 'First byte', at: firstAt, note });
  }
  const neverSent = sentAt === null ? `${waited}, sent to no provider` : null;
  const note = neverSent ?? `after ${formatMs(totalMs)} in all`;
  return [
    { key: 'received', mood: 'past', title: 'Received', at: receivedAt },
    ...sent,
    { key: 'end', ...ENDS[outcome], at: request.ended_at, note },
  ];
}

type Advice = (typeof ERROR_ADVICE)[keyof typeof ERROR_ADVICE];

interface RequestErrorProps {
  readonly code: string;
  /** Of a job. */
  readonly message: string | null;
}

/** What failed, what the error means, and what to do about it. */
function RequestError({ code, message }: RequestErrorProps) {
  const all: Readonly<Record<string, Advice>> = ERROR_ADVICE;
  const advice = all[code];
  return (
    <section class="card">
      <h2 class="row bad">
        <Icon name="circle-x" />
        Failed
        <span class="mono small">{code}</span>
      </h2>
      {message !== null && (
        <p>
          <Told text={message} />
        </p>
      )}
      {advice !== undefined && (
        <>
          {message === null && (
            <p>
              <Prose text={advice.meaning} />
            </p>
          )}
          <p class="soft">
            <Prose text={advice.todo} />
          </p>
        </>
      )}
    </section>
  );
}

interface FilesProps {
  readonly files: NonNullable<OneRequest['work']>['files'];
  readonly name: string;
}

function Files({ files, name }: FilesProps) {
  return (
    <section class="card stack">
      <h2>Result</h2>
      <div class="job-files">
        {files.map((file, index) => (
          <Media
            key={file.id}
            file={file}
            label={`Result ${index + 1}, a ${kindOf(file)}: ${name}`}
          />
        ))}
      </div>
      <p>
        <LinkButton small href="/library">
          Go to Library
        </LinkButton>
      </p>
    </section>
  );
}
