import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Attention } from '../../ui/dialog/attention.js';
import { Code } from '../../ui/text/code.js';
import { Page } from '../../ui/page.js';
import { FaultState } from '../../ui/table/states.js';
import { Checklist } from './checklist.js';
import './home.css';
import { BusyModels } from './busy-models.js';
import { HomeTiles } from './home-tiles.js';

/** What waits for somebody's word is work; the rest is something wrong. */
const REQUESTS: readonly MyResult<'home.show'>['attention'][number]['kind'][] = [
  'devices_waiting',
  'providers_waiting',
  'network_invitation',
];

/** What needs somebody, then how things are, then what is going on. */
export function Home() {
  const home = useMy('home.show', {}, { topics: ['jobs'] });
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
      <HomeTiles tiles={data?.tiles} />
      {data !== undefined && <Checklist steps={data.checklist} />}
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
