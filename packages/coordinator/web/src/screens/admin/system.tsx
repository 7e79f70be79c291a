import type { ComponentChildren } from 'preact';
import { useAdmin } from '../../api/commands.js';
import type { AdminResult } from '../../api/commands.js';
import { Badge } from '../../ui/figures/badge.js';
import { Code } from '../../ui/text/code.js';
import { CopyText } from '../../ui/button/copy.js';
import { Facts } from '../../ui/text/facts.js';
import { formatBytes, formatCount, plural } from '../../ui/text/format.js';
import { Meter } from '../../ui/figures/meter.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Ago } from '../../ui/text/time.js';
import { PauseButton } from '../queue/pause-button.js';
import { LISTS } from './every.js';

type SystemFacts = AdminResult<'system.show'>;

export function System() {
  const system = useAdmin('system.show', {}, LISTS);
  return (
    <Loaded of={system} rows={8}>
      {(facts) => (
        <div class="columns admin-system">
          <Gateway system={facts} />
          <Queue system={facts} onDone={system.refresh} />
          <Storage system={facts} />
          <Limits limits={facts.limits} />
          <Backup lastAt={facts.last_backup_at} />
        </div>
      )}
    </Loaded>
  );
}

interface CardProps {
  readonly title: string;
  readonly isWide?: boolean;
  readonly children: ComponentChildren;
}

function Card({ title, isWide = false, children }: CardProps) {
  return (
    <section class={`card stack${isWide ? ' admin-limits' : ''}`}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Gateway({ system }: { readonly system: SystemFacts }) {
  const url = system.public_url;
  return (
    <Card title="Gateway">
      <Facts
        rows={[
          ['Version', system.version],
          ['Listens on', <CopyText text={system.address} label="Copy the address" />],
          [
            'Public URL',
            url === null ? 'not set' : <CopyText text={url} label="Copy the public URL" />,
          ],
        ]}
      />
      {url === null && (
        <p class="soft small">
          Without GATEWAY_PUBLIC_URL, links and snippets contain the address that the caller used.
        </p>
      )}
    </Card>
  );
}

function Queue({ system, onDone }: { system: SystemFacts; onDone: () => Promise<void> }) {
  const { async_enabled: isOn, queue_paused: isPaused } = system;
  return (
    <Card title="Jobs">
      <Facts
        rows={[
          [
            'Asynchronous jobs',
            <Badge dot mood={isOn ? 'good' : 'warn'}>
              {isOn ? 'on' : 'off'}
            </Badge>,
          ],
          [
            'Queue',
            <Badge dot mood={isPaused ? 'warn' : 'good'}>
              {isPaused ? 'paused' : 'running'}
            </Badge>,
          ],
          ['Kept for', plural(system.retention_days, 'day')],
        ]}
      />
      {isOn ? (
        <div>
          <PauseButton isPaused={isPaused} onDone={onDone} />
        </div>
      ) : (
        <p class="soft small">To switch them on, set GATEWAY_ASYNC_ENABLED=true and restart.</p>
      )}
    </Card>
  );
}

function Storage({ system }: { readonly system: SystemFacts }) {
  const { asset_bytes: used, asset_bytes_limit: limit } = system;
  const label = `${formatBytes(used)} of ${formatBytes(limit)}`;
  return (
    <Card title="Storage">
      <Facts
        rows={[
          ['Database', `${formatBytes(system.database_bytes)}, schema ${system.schema_version}`],
          ['Generated files', label],
          ['For one member', `up to ${formatBytes(system.asset_bytes_limit_a_member)}`],
        ]}
      />
      <Meter
        value={used}
        max={limit}
        label={`${label} of generated files`}
        mood={used >= limit * 0.9 ? 'warn' : 'accent'}
      />
    </Card>
  );
}

function Backup({ lastAt }: { readonly lastAt: number | null }) {
  return (
    <Card title="Backup">
      <Facts rows={[['Last backup', <Ago at={lastAt} never="none known" />]]} />
      <p>
        Run this on the machine of the gateway, even while it runs. It saves the database and every
        generated file.
      </p>
      <Code text="gateway-coordinator backup -o gateway.tar.gz" label="Copy the command" />
      <p class="soft small">
        gateway-coordinator restore --verify reads a whole backup and changes nothing.
      </p>
    </Card>
  );
}

/** Labels of the limits; an unknown name is shown unchanged. */
const LIMITS: Readonly<Record<string, string>> = {
  rate_limit_requests: 'Requests in a window',
  rate_limit_window_s: 'Window, in seconds',
  max_concurrent: 'Requests of one member at once',
  max_queued: 'Queued jobs of one member',
  max_json_bytes: 'Size of a JSON body',
  max_body_memory_bytes: 'Bodies and answers in memory',
  max_images: 'Images in one call',
  sync_wait_s: 'Wait for a slot, in seconds',
  sync_deadline_s: 'Deadline of a call, in seconds',
  job_max_attempts: 'Attempts at a job',
  provider_approval: 'New providers need approval',
  assets_access: 'Generated files open to',
  assets_link_s: 'A link to one works, in seconds',
};

function Limits({ limits }: Pick<SystemFacts, 'limits'>) {
  return (
    <Card title="Limits in force" isWide>
      <Facts
        rows={Object.entries(limits).map(([name, value]) => [
          LIMITS[name] ?? name,
          limitText(name, value),
        ])}
      />
      <p class="soft small">Set in the configuration; a restart changes them.</p>
    </Card>
  );
}

function limitText(name: string, value: number | string | boolean): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  return name.endsWith('_bytes') ? formatBytes(value) : formatCount(value);
}
