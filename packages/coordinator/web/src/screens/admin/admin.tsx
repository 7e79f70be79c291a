import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { isAdmin } from '../../api/session.js';
import { LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import './admin.css';
import { Aliases } from './aliases.js';
import { Audit } from './audit.js';
import { Invites } from './invites.js';
import { Jobs } from './jobs.js';
import { Keys } from './keys.js';
import { Networks } from './networks.js';
import { Overview } from './overview.js';
import { Providers } from './providers.js';
import { System } from './system.js';
import { UsageOfAll } from './usage-of-all.js';
import { Users } from './users.js';

interface Part {
  readonly text: string;
  readonly component: ComponentType;
}

/** By the last part of their addresses, in the order of the tabs. */
const PARTS = new Map<string, Part>([
  ['', { text: 'Overview', component: Overview }],
  ['users', { text: 'Members', component: Users }],
  ['invites', { text: 'Invites', component: Invites }],
  ['networks', { text: 'Networks', component: Networks }],
  ['providers', { text: 'Providers', component: Providers }],
  ['aliases', { text: 'Aliases', component: Aliases }],
  ['jobs', { text: 'Jobs', component: Jobs }],
  ['keys', { text: 'Keys', component: Keys }],
  ['usage', { text: 'Usage', component: UsageOfAll }],
  ['audit', { text: 'Audit', component: Audit }],
  ['system', { text: 'System', component: System }],
]);

const TABS = [...PARTS].map(([part, { text }]) => ({
  href: part === '' ? '/admin' : `/admin/${part}`,
  text,
}));

export function Admin() {
  const part = useRoute().params['part'] ?? '';
  if (!isAdmin()) return <NotForMembers />;
  const Shown = PARTS.get(part)?.component ?? Unknown;
  return (
    <Page title="Admin">
      <Tabs label="Admin" tabs={TABS} />
      <Shown key={part} />
    </Page>
  );
}

function NotForMembers() {
  return (
    <Page title="Admin">
      <Empty
        icon="shield"
        title="Only admins see this."
        text="Ask an admin of this gateway to make you one."
      >
        <LinkButton href="/">Go home</LinkButton>
      </Empty>
    </Page>
  );
}

function Unknown() {
  return (
    <Empty title="There is no such part of Admin.">
      <LinkButton href="/admin">Go to the overview</LinkButton>
    </Empty>
  );
}
