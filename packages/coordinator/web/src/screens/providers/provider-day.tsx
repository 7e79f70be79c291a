import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import { CopyText } from '../../ui/button/copy.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Loading } from '../../ui/table/states.js';
import type { DayCharts } from './day-charts.js';
import type { MachineDay } from './day-data.js';
import type { OwnProvider } from './own-providers.js';

interface ProviderDayProps {
  readonly provider: OwnProvider;
}

/** The last 24 hours, asked of its agent while somebody looks. */
export function ProviderDay({ provider }: ProviderDayProps) {
  return (
    <section class="section after-table">
      <h2>Last 24 hours</h2>
      {provider.online ? (
        <Asked provider={provider} />
      ) : (
        <p class="soft">The machine is offline. Its agent tells them once it is connected.</p>
      )}
    </section>
  );
}

/** A value a minute. */
const EVERY_MS = 60_000;

function Asked({ provider }: ProviderDayProps) {
  const day = useMy('provider.gpu-day', { provider: provider.id }, { everyMs: EVERY_MS });
  return (
    <Loaded of={day} rows={4}>
      {(told) =>
        told.state === 'on' ? (
          <Told told={told} slots={provider.slots} />
        ) : (
          <Untold state={told.state} />
        )
      }
    </Loaded>
  );
}

function Untold({ state }: { readonly state: 'older' | 'offline' }) {
  if (state === 'offline') return <p class="soft">The machine has just gone offline.</p>;
  return (
    <p class="soft">
      The agent on the machine is too old to keep them. Update it with{' '}
      <CopyText text="gateway-agent upgrade" label="Copy the command" />.
    </p>
  );
}

interface ToldProps {
  readonly told: MachineDay;
  readonly slots: number;
}

function Told({ told, slots }: ToldProps) {
  const Charts = useCharts();
  const { day, cards } = told;
  if (day.own_slots.mean.length === 0) {
    return <p class="soft">Its agent has just begun to measure: there is a value a minute.</p>;
  }
  return (
    <>
      {cards.length === 0 && <p class="soft">{day.watches ? NO_CARDS : NOT_WATCHED}</p>}
      {Charts === null ? <Loading rows={4} /> : <Charts told={told} slots={slots} />}
    </>
  );
}

const NO_CARDS = 'Its agent can read no graphics card, so only the use of its slots is known.';

const NOT_WATCHED =
  'Its agent does not watch the graphics cards, as its game mode is switched off. Only the use ' +
  'of its slots is known.';

/** Null until the script that draws is loaded. */
function useCharts(): ComponentType<ToldProps> | null {
  const [loaded, setLoaded] = useState<{ readonly Charts: typeof DayCharts } | null>(null);
  useEffect(() => {
    let isShown = true;
    const show = (part: { readonly DayCharts: typeof DayCharts }): void => {
      if (isShown) setLoaded({ Charts: part.DayCharts });
    };
    // After an update of the coordinator it may be gone: then the page has to be loaded again.
    void import('./day-charts.js').then(show, () => undefined);
    return () => {
      isShown = false;
    };
  }, []);
  return loaded?.Charts ?? null;
}
