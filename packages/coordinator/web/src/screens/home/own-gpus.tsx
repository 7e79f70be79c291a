import type { ComponentChildren } from 'preact';
import { formatCount, formatMib } from '../../ui/text/format.js';
import { Badge } from '../../ui/figures/badge.js';
import { Meter, SlotMeter } from '../../ui/figures/meter.js';
import { Facts } from '../../ui/text/facts.js';
import { standingOf, useOwnProviders } from '../providers/own-providers.js';
import type { OwnProvider } from '../providers/own-providers.js';

/** Providers that are shown; the Providers screen has all. */
const MAX_SHOWN = 6;

/** A card for each of the member's machines. `count` of them are expected. */
export function OwnGpus({ count }: { readonly count: number }) {
  const { data } = useOwnProviders();
  if (count === 0) return null;
  const shown = data?.slice(0, MAX_SHOWN);
  const placeholders = Array.from({ length: Math.min(count, MAX_SHOWN) }, (_, index) => index);
  return (
    <section class="section">
      <div class="card-head">
        <h2>My GPUs</h2>
        <a href="/providers">{count > MAX_SHOWN ? `All ${formatCount(count)}` : 'Providers'}</a>
      </div>
      <ul class="own-gpus">
        {shown?.map((provider) => <GpuCard key={provider.id} provider={provider} />) ??
          placeholders.map((index) => <li key={index} class="own-gpu skeleton" />)}
      </ul>
    </section>
  );
}

function GpuCard({ provider }: { readonly provider: OwnProvider }) {
  const { id, name, slots, busy, online, gpus } = provider;
  const { word, mood } = standingOf(provider);
  return (
    <li class="own-gpu">
      <p class="own-gpu-head">
        <a href={`/providers/${id}`}>{name}</a>
        <Badge dot mood={mood}>
          {word}
        </Badge>
      </p>
      {online && <SlotMeter slots={slots} free={Math.max(0, slots - busy)} />}
      {gpus.length === 0 && <p class="soft small">Its agent reports no graphics card.</p>}
      {gpus.map((gpu, index) => (
        <Gpu key={index} gpu={gpu} online={online} />
      ))}
    </li>
  );
}

type GpuFacts = OwnProvider['gpus'][number];

/** What the agent has reported; what it does not report is left out. */
function Gpu({ gpu, online }: { readonly gpu: GpuFacts; readonly online: boolean }) {
  const rows: (readonly [string, ComponentChildren])[] = [
    ['In use', gpu.use_percent === null ? null : <Use percent={gpu.use_percent} />],
    ['Memory', memoryText(gpu)],
    ['Temperature', gpu.temperature_c === null ? null : `${Math.round(gpu.temperature_c)} °C`],
    ['Power', gpu.power_watts === null ? null : `${Math.round(gpu.power_watts)} W`],
  ];
  return (
    <div class="small">
      <p class="soft">{gpu.name ?? 'GPU'}</p>
      {online && <Facts rows={rows} />}
    </div>
  );
}

function Use({ percent }: { readonly percent: number }) {
  const whole = Math.round(percent);
  return (
    <span class="own-gpu-use">
      <Meter value={whole} max={100} label={`${whole} % in use`} />
      <span aria-hidden="true">{whole} %</span>
    </span>
  );
}

function memoryText({ memory_used_mib: used, memory_mib: all }: GpuFacts): string | null {
  if (used === null) return all === null ? null : formatMib(all);
  return all === null ? formatMib(used) : `${formatMib(used)} of ${formatMib(all)}`;
}
