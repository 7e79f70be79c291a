import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Attention } from '../../ui/dialog/attention.js';
import { Code } from '../../ui/text/code.js';
import { Page } from '../../ui/page.js';
import { FaultState } from '../../ui/table/states.js';
import { formatCount, formatShort, plural } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { TimeBars } from '../../ui/figures/time-bars.js';
import { Ago } from '../../ui/text/time.js';
import { QUEUE } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { useSnapshot } from '../../api/snapshot.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Table } from '../../ui/table/table.js';
import type { Column } from '../../ui/table/table.js';
import { Checklist } from './checklist.js';
import { OwnGpus } from './own-gpus.js';
import './home.css';

/** Notices about decisions that somebody waits for; the others are about problems. */
const REQUESTS: readonly MyResult<'home.show'>['attention'][number]['kind'][] = [
  'devices_waiting',
  'providers_waiting',
  'network_invitation',
];

/** They read all requests of 24 hours; a tab that becomes visible asks at once. */
const DAY_EVERY_MS = 60_000;

/** Notices, then figures, then current jobs. */
export function Home() {
  const home = useMy('home.show', { day: false }, { topics: ['jobs'] });
  const day = useMy('home.day', {}, { everyMs: DAY_EVERY_MS });
  const { data, fault } = home;
  if (data === undefined && fault !== null) {
    return (
      <Page title="Home">
        <FaultState fault={fault} onRetry={() => void home.refresh()} />
      </Page>
    );
  }
  return (
    <Page title="Home" staleSince={home.staleSince}>
      <Attention
        items={data?.attention.map((item) => ({ ...item, asks: REQUESTS.includes(item.kind) }))}
        label="Needs attention"
        calm="All is well."
      />
      <HomeTiles tiles={data?.tiles} day={day.data} />
      {data !== undefined && <Checklist steps={data.checklist} onChange={home.refresh} />}
      {data !== undefined && <OwnGpus count={data.tiles.providers} />}
      <section class="section">
        <h2>Base URL</h2>
        <Code inline text={currentSession().gateway.base_url} label="Copy the base URL" />
        <p class="soft small home-note">
          Any OpenAI client works with it and a key of <a href="/settings/token">yours</a>.
        </p>
      </section>
      <BusyModels />
    </Page>
  );
}

type Tiles = MyResult<'home.show'>['tiles'];
type Day = MyResult<'home.day'>;

interface HomeTilesProps {
  readonly tiles: Tiles | undefined;
  readonly day: Day | undefined;
}

/** Undefined while they load: their space is reserved. */
function HomeTiles({ tiles, day }: HomeTilesProps) {
  const hours = day?.hours;
  const count = (pick: (tiles: Tiles) => number) => tiles && formatCount(pick(tiles));
  return (
    <div class="tiles">
      <Tile
        label="Running"
        figure={count(({ running }) => running)}
        note="jobs"
        href="/jobs?active=1"
      />
      <Tile
        label="Queued"
        figure={count(({ queued }) => queued)}
        note={tiles && <Oldest tiles={tiles} />}
        href="/queue"
      />
      <Tile
        label="My GPUs online"
        figure={tiles && `${tiles.providers_online}/${tiles.providers}`}
        note="providers"
        href="/providers"
      />
      <Tile
        label="Requests"
        figure={day && formatCount(day.requests)}
        note="in 24 hours"
        chart={<TimeBars values={hours?.requests} label={hoursText(hours?.requests, 'request')} />}
        href="/usage?period=day"
      />
      <Tile
        label="Errors"
        figure={day && <Errors count={day.errors} />}
        note="in 24 hours"
        chart={
          <TimeBars values={hours?.errors} label={hoursText(hours?.errors, 'error')} mood="bad" />
        }
        href="/usage?period=day&measure=errors"
      />
      <Tile
        label="Tokens"
        figure={hours && formatShort(sumOf(hours.tokens))}
        note="in 24 hours"
        chart={<TimeBars values={hours?.tokens} label={hoursText(hours?.tokens, 'token')} />}
        href="/usage?period=day&measure=tokens"
      />
    </div>
  );
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

/** `42 requests in 24 hours, at most 12 in one.` */
function hoursText(values: readonly number[] = [], one: string): string {
  const most = Math.max(0, ...values);
  return `${plural(sumOf(values), one)} in 24 hours, at most ${formatCount(most)} in one.`;
}

function Oldest({ tiles }: { readonly tiles: Tiles }) {
  const at = tiles.oldest_queued_at;
  if (at === null) return <>nothing waits</>;
  return (
    <>
      oldest <Ago at={at} />
    </>
  );
}

function Errors({ count }: { readonly count: number }) {
  return <span class={count > 0 ? 'bad' : ''}>{formatCount(count)}</span>;
}

type ModelQueue = QueueSummary['by_model'][number];

/** A summary needs no hints; the Queue screen shows every change. */
const EVERY_MS = 5_000;

/** The Queue screen shows the rest. */
const SHOWN = 6;

/** Models with queued or running requests. */
function BusyModels() {
  const { data } = useSnapshot<QueueSummary>(QUEUE, { everyMs: EVERY_MS });
  const models = data?.by_model ?? [];
  const busy = models.filter(isBusy).toSorted((a, b) => load(b) - load(a));
  const idle = models.length - busy.length;
  return (
    <section class="section">
      <div class="card-head">
        <h2>Models at work</h2>
        <a href="/queue">Queue</a>
      </div>
      {busy.length > 0 && (
        <Table
          caption="Models at work"
          columns={COLUMNS}
          rows={busy.slice(0, SHOWN)}
          rowKey={({ model, service_type: type }) => `${model} ${type}`}
        />
      )}
      <p class="soft small home-note">{data === undefined ? ' ' : idleText(idle, busy.length)}</p>
    </section>
  );
}

const COLUMNS: readonly Column<ModelQueue>[] = [
  {
    head: 'Model',
    isName: true,
    below: ({ queued }) => (queued > 0 ? `${formatCount(queued)} waiting` : ''),
    cell: ({ model }) => <span class="mono">{model}</span>,
  },
  {
    head: 'Slots',
    kind: 'grow',
    cell: ({ slots, free_slots: free }) =>
      slots === 0 ? (
        <span class="warn whole">no provider online</span>
      ) : (
        <SlotMeter slots={slots} free={free} />
      ),
  },
  { head: 'Waiting', kind: 'number', ifWide: true, cell: ({ queued }) => formatCount(queued) },
];

function isBusy(one: ModelQueue): boolean {
  return load(one) > 0;
}

function load({ queued, slots, free_slots: free }: ModelQueue): number {
  return queued + slots - free;
}

function idleText(idle: number, busy: number): string {
  if (idle + busy === 0) return 'No model is online for you.';
  if (busy === 0) return `${plural(idle, 'model')} online, all free.`;
  return `${plural(idle, 'more model')} ${idle === 1 ? 'is' : 'are'} online and free.`;
}
