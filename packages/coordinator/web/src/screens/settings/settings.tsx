import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { useQueryFlag } from '../../ui/form/query.js';
import { Page } from '../../ui/page.js';
import { Empty, FaultText } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import { useCell } from '../../api/cell.js';
import { singleKeys, theme } from '../../shell/preferences.js';
import { OnOff, Segments } from '../../ui/form/field.js';
import { my } from '../../api/commands.js';
import { currentSession, loadSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Facts } from '../../ui/text/facts.js';
import { NameField } from '../../ui/form/name-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { Aliases } from './aliases.js';
import { Excerpts } from './excerpts.js';
import { FirstSteps } from './first-steps.js';
import { NewKey } from './new-key.js';
import { Notifications } from './notifications.js';
import type { PartProps } from './part-props.js';
import { Security } from './security.js';
import { Token } from './token.js';
import './settings.css';

const TABS = [
  { href: '/settings/token', text: 'Token' },
  { href: '/settings/aliases', text: 'Aliases' },
  { href: '/settings', text: 'Profile' },
  { href: '/settings/security', text: 'Security' },
  { href: '/settings/notifications', text: 'Notifications' },
  { href: '/settings/appearance', text: 'Appearance' },
];

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const PARTS = new Map<string, ComponentType<PartProps>>([
  ['', You],
  ['token', Token],
  ['aliases', Aliases],
  ['security', Security],
  ['notifications', Notifications],
  ['appearance', Appearance],
]);

export function Settings() {
  const part = useRoute().params['part'] ?? '';
  const Part = PARTS.get(part) ?? Unknown;
  const [isCreating, setCreating] = useQueryFlag('new');
  const create = (): void => setCreating(true);
  const actions = (
    <Button tone="primary" icon="plus" onClick={create}>
      Create key
    </Button>
  );
  return (
    <Page title={part === 'token' ? 'API keys' : 'Settings'} {...(part === 'token' && { actions })}>
      <Tabs label="Settings" tabs={TABS} />
      <div class="settings-part">
        <Part onNewKey={create} />
      </div>
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
    </Page>
  );
}

function Unknown() {
  return (
    <Empty title="There is no such setting.">
      <LinkButton href="/settings/token">Go to your keys</LinkButton>
    </Empty>
  );
}

function Appearance() {
  return (
    <section class="card reading stack">
      <h2>Theme</h2>
      <div>
        <Segments
          label="Theme"
          value={useCell(theme)}
          options={THEMES}
          onValue={(chosen) => (theme.value = chosen)}
        />
      </div>
      <h2>Keyboard shortcuts of a single key</h2>
      <div>
        <OnOff
          label="Keyboard shortcuts of a single key"
          value={useCell(singleKeys)}
          onValue={(chosen) => (singleKeys.value = chosen)}
        />
      </div>
      <p class="soft small">
        Press <kbd>?</kbd> for a list of them. <kbd>Ctrl</kbd> <kbd>K</kbd> works in any case.
      </p>
      <p class="soft small">Both are kept in this browser.</p>
    </section>
  );
}

function You() {
  return (
    <>
      <Profile />
      <Excerpts />
      <FirstSteps />
    </>
  );
}

function Profile() {
  const { member } = currentSession();
  const [name, setName] = useState(member.name);
  const act = useAct(async () => {
    await my('user.rename', { name: name.trim() });
    await loadSession();
    toast('Your name is changed.');
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form reading" onSubmit={submit}>
      <h2>You</h2>
      <NameField
        autofocus={false}
        hint="Everybody in your networks sees it, also next to your GPUs."
        autocomplete="nickname"
        value={name}
        onValue={setName}
      />
      <Facts
        rows={[
          ['E-mail', member.email],
          ['Role', <Badge>{member.role}</Badge>],
        ]}
      />
      <p class="soft small">
        You log in with this address. Only an admin can change it, or the role.
      </p>
      <FaultText fault={act.fault} />
      <div class="row">
        <Button
          type="submit"
          tone="primary"
          busy={act.isBusy}
          disabled={name.trim() === member.name}
        >
          Save
        </Button>
      </div>
    </form>
  );
}
