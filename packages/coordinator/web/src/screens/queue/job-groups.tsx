import { useState } from 'preact/hooks';
import { SERVICE_TYPES, ENDPOINT_KEYS, ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { EVERY_JOB } from '../../api/bulk-jobs.js';
import type { ChosenJobs, JobFilters } from '../../api/bulk-jobs.js';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { JOBS } from '../../api/jobs.js';
import type { QueueSummary } from '../../api/jobs.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { BulkConfirm } from '../../ui/dialog/bulk-confirm.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { Told } from '../../ui/text/told.js';
import { formatCount, plural } from '../../ui/text/format.js';
import { Ago } from '../../ui/text/time.js';
import { endText } from './end-text.js';
import { OwnJobs } from './my-queue.js';

type JobGroups = MyResult<'queue.groups'>;
type Group = JobGroups['groups'][number];

const OWN = ['jobs'] as const;
const MOVED = ['queue', 'jobs'] as const;

interface MyQueueProps {
  readonly summary: QueueSummary;
  readonly onChange: () => Promise<void>;
}

/** The member's jobs that have not ended, by batch and model. */
export function MyQueue({ summary, onChange }: MyQueueProps) {
  // Jobs of other members change only the reasons and ends of queued jobs.
  const topics = summary.queued > 0 ? MOVED : OWN;
  const groups = useMy('queue.groups', {}, { topics });
  const change = async (): Promise<void> => {
    await Promise.all([groups.refresh(), onChange()]);
  };
  return (
    <section class="section" aria-label="Your jobs">
      <h2>Your jobs</h2>
      <Loaded of={groups} rows={3}>
        {(found) =>
          found.groups.length === 0 ? (
            <NothingQueued summary={summary} />
          ) : (
            <GroupList found={found} onChange={change} />
          )
        }
      </Loaded>
    </section>
  );
}

function NothingQueued({ summary }: { readonly summary: QueueSummary }) {
  const { free_slots: free, slots } = summary.capacity;
  const text =
    slots === 0
      ? 'No slot is online: what you queue now waits until a provider is online.'
      : `${formatCount(free)} of ${plural(slots, 'slot')} free.`;
  return (
    <Empty icon="circle-check" title="Nothing queued." text={text}>
      <LinkButton href="/playground">Try a model</LinkButton>
    </Empty>
  );
}

/** As few jobs and groups are open at first: the jobs are what people look for. */
const FEW_JOBS = 12;
const FEW_GROUPS = 3;

interface GroupListProps {
  readonly found: JobGroups;
  readonly onChange: () => Promise<void>;
}

function GroupList({ found, onChange }: GroupListProps) {
  const { groups, total } = found;
  const jobs = groups.reduce((sum, { queued, running }) => sum + queued + running, 0);
  const [isCanceling, setCanceling] = useState(false);
  return (
    <>
      <div class="card-head">
        <p class="soft small">
          {plural(jobs, 'job')} in {plural(groups.length, 'group')}
          {total > groups.length && `, ${formatCount(total - groups.length)} more groups follow`}
        </p>
        {jobs > 1 && (
          <Button small icon="ban" onClick={() => setCanceling(true)}>
            Cancel all
          </Button>
        )}
      </div>
      <ul class="job-groups">
        {groups.map((group) => (
          <GroupRow
            key={keyOf(group)}
            group={group}
            isOpenAtFirst={jobs <= FEW_JOBS && groups.length <= FEW_GROUPS}
            onChange={onChange}
          />
        ))}
      </ul>
      {isCanceling && (
        <BulkConfirm
          verb="cancel"
          jobs={{ where: EVERY_JOB }}
          count={total > groups.length ? null : jobs}
          onDone={onChange}
          onClose={() => setCanceling(false)}
        />
      )}
    </>
  );
}

interface GroupRowProps {
  readonly group: Group;
  readonly isOpenAtFirst: boolean;
  readonly onChange: () => Promise<void>;
}

function GroupRow({ group, isOpenAtFirst, onChange }: GroupRowProps) {
  // Once it is opened or closed by hand, the number of jobs does not change it.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [isCanceling, setCanceling] = useState(false);
  const isOpen = chosen ?? isOpenAtFirst;
  const jobs = group.queued + group.running;
  const name = nameOf(group);
  return (
    <li class="job-group">
      <div class="job-group-head">
        <button
          type="button"
          class="job-group-toggle"
          aria-expanded={isOpen}
          aria-label={`Jobs of ${name}`}
          onClick={() => setChosen(!isOpen)}
        >
          <Icon name="chevron-right" />
        </button>
        <div class="job-group-name">
          <b class="mono">{group.model}</b>
          {group.batch !== null && <a href={`/batches/${group.batch}`}>{batchName(group)}</a>}
        </div>
        <div class="job-group-counts">
          {group.running > 0 && <span>{formatCount(group.running)} running</span>}
          {group.queued > 0 && <span>{formatCount(group.queued)} queued</span>}
          <span class="soft">{endText(group.ends_in_s)}</span>
        </div>
        {jobs > 1 && (
          <Button
            small
            aria-label={`Cancel ${plural(jobs, 'job')} of ${name}`}
            onClick={() => setCanceling(true)}
          >
            Cancel {formatCount(jobs)}
          </Button>
        )}
      </div>
      <Reason group={group} />
      {isOpen && <OwnJobs url={urlOf(group)} caption={name} onChange={onChange} />}
      {isCanceling && (
        <BulkConfirm
          verb="cancel"
          jobs={chosenOf(group)}
          count={jobs}
          onDone={onChange}
          onClose={() => setCanceling(false)}
        />
      )}
    </li>
  );
}

/** Why it waits, once for all of its jobs. */
function Reason({ group }: { readonly group: Group }) {
  const { waiting_reason: reason, oldest_queued_at: at } = group;
  if (reason === null) return null;
  return (
    <p class="soft small job-group-reason">
      <Told text={reason} />
      {at !== null && (
        <>
          {' '}
          The oldest was queued <Ago at={at} />.
        </>
      )}
    </p>
  );
}

/** "qwen3:8b, Translations" */
function nameOf(group: Group): string {
  return group.batch === null ? group.model : `${group.model}, ${batchName(group)}`;
}

/** The end of an id is enough to tell batches without a label apart. */
const SHOWN_CHARACTERS = 6;

function batchName({ batch, label }: Pick<Group, 'batch' | 'label'>): string {
  return label ?? `batch …${batch?.slice(-SHOWN_CHARACTERS) ?? ''}`;
}

function keyOf({ batch, service_type: type, model }: Group): string {
  return `${batch ?? ''} ${type} ${model}`;
}

function whereOf({ batch, service_type: type, model }: Group): JobFilters {
  return { ...EVERY_JOB, type: TYPES.get(type) ?? null, model_id: model, batch: batch ?? 'none' };
}

/** The `inference_type` of the jobs of a service type. */
const TYPES = new Map(
  SERVICE_TYPES.map((serviceType) => {
    const ofType = ENDPOINT_KEYS.filter((key) => ENDPOINTS[key].serviceType === serviceType);
    const types = ofType.map((key) => ENDPOINTS[key].inferenceType);
    return [serviceType, types.find((type) => type !== null) ?? null] as const;
  }),
);

function chosenOf(group: Group): ChosenJobs {
  return { where: whereOf(group) };
}

/** The list of its jobs, in pages. */
function urlOf(group: Group): string {
  const { type, model_id: modelId, batch } = whereOf(group);
  const asked = new URLSearchParams({
    active: '1',
    order: 'asc',
    limit: '50',
    ...(type !== null && { type }),
    ...(modelId !== null && { model_id: modelId }),
    ...(batch !== null && { batch_id: batch }),
  });
  return `${JOBS}?${asked}`;
}
