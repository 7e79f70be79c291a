import { CopyText } from '../../ui/button/copy.js';
import { Facts } from '../../ui/text/facts.js';
import { formatCount } from '../../ui/text/format.js';
import { SlotMeter } from '../../ui/figures/meter.js';
import { Ago } from '../../ui/text/time.js';
import type { OwnProvider } from './own-providers.js';
import { ProviderError } from './provider-error.js';

/** The machine, and what it does. */
export function ProviderFacts({ provider }: { readonly provider: OwnProvider }) {
  return (
    <div class="columns provider-facts">
      <section class="card">
        <h2>Machine</h2>
        <Facts rows={machineRows(provider)} />
      </section>
      <section class="card">
        <h2>Work</h2>
        <Facts rows={workRows(provider)} />
      </section>
    </div>
  );
}

function machineRows(provider: OwnProvider) {
  const { id, host, agent_version: version, protocol } = provider;
  return [
    // Those that are known have a table of their own.
    ['GPU', provider.gpus.length === 0 ? 'not told' : null],
    ['Drivers', driversOf(provider)],
    ['System', host && `${host.os} ${host.arch}`],
    ['Agent', version],
    ['Protocol', protocol],
    ['Id', <CopyText text={id} label="Copy the id" />],
  ] as const;
}

function driversOf({ host }: OwnProvider): string | null {
  const drivers = new Set((host?.gpus ?? []).flatMap(({ driver }) => driver ?? []));
  return drivers.size === 0 ? null : [...drivers].join(', ');
}

function workRows(provider: OwnProvider) {
  const { online, slots, busy, served_today: served, last_error: error } = provider;
  return [
    ['Slots busy', online ? <SlotMeter slots={slots} free={Math.max(0, slots - busy)} /> : null],
    ['Served today', formatCount(served)],
    ['Last error', <ProviderError provider={provider} />],
    ['Of model', error && <span class="mono">{error.model}</span>],
    ['Request', error && <CopyText text={error.request_id} label="Copy the request id" />],
    ['Connected', provider.connected_at && <Ago at={provider.connected_at} />],
    ['Last seen', online ? null : <Ago at={provider.last_seen_at} />],
    ['Added', <Ago at={provider.created_at} />],
  ] as const;
}
