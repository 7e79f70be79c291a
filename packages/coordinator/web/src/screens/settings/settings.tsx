import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Empty, FaultText } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import { useCell } from '../../api/cell.js';
import { setTheme, theme } from '../../shell/theme.js';
import { Segments } from '../../ui/form/field.js';
import { my, useMy } from '../../api/commands.js';
import { currentSession, loadSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Facts } from '../../ui/text/facts.js';
import { NameField } from '../../ui/form/name-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { CONSOLE, postJson } from '../../api/request.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { PASSWORD_HINT, PasswordField } from '../../ui/form/password-field.js';
import { Aliases } from './aliases.js';
import { FirstSteps } from './first-steps.js';
import { NewKey } from './new-key.js';
import type { PartProps } from './part-props.js';
import { Token } from './token.js';
import { Sessions, SESSION_OPTIONS } from './sessions.js';
import './settings.css';

const TABS = [
  { href: '/settings/token', text: 'Token' },
  { href: '/settings/aliases', text: 'Aliases' },
  { href: '/settings', text: 'Profile' },
  { href: '/settings/security', text: 'Security' },
  { href: '/settings/appearance', text: 'Appearance' },
];

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

const FIELDS = ['current', 'password'];

const PARTS = new Map<string, ComponentType<PartProps>>([
  ['', You],
  ['token', Token],
  ['aliases', Aliases],
  ['security', Security],
  ['appearance', Appearance],
]);

export function Settings() {
  const part = useRoute().params['part'] ?? '';
  const Part = PARTS.get(part) ?? Unknown;
  const [isCreating, setCreating] = useState(false);
  const create = (): void => setCreating(true);
  const actions = (
    <Button tone="primary" icon="plus" onClick={create}>
      Create key
    </Button>
  );
  return (
    <Page title="Settings" {...(part === 'token' && { actions })}>
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

function You() {
  return (
    <>
      <Profile />
      <FirstSteps />
    </>
  );
}

function Security() {
  return (
    <>
      <Sessions />
      <ChangePassword />
    </>
  );
}

function Appearance() {
  return (
    <section class="card reading stack">
      <h2>Theme</h2>
      <div>
        <Segments label="Theme" value={useCell(theme)} options={THEMES} onValue={setTheme} />
      </div>
      <p class="soft small">Kept in this browser.</p>
    </section>
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

function ChangePassword() {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const sessions = useMy('user.sessions', {}, SESSION_OPTIONS);
  const act = useAct(async () => {
    await postJson(`${CONSOLE}/password`, { current, password });
    setCurrent('');
    setPassword('');
    toast('Your password is changed. Every other browser is logged out.');
    await sessions.refresh();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form reading" onSubmit={submit}>
      <h2>Change your password</h2>
      {/* Tells the password manager to which account the password belongs. */}
      <input
        hidden
        readOnly
        aria-hidden="true"
        autocomplete="username"
        value={currentSession().member.email}
      />
      <PasswordField
        label="Current password"
        autocomplete="current-password"
        wrong={wrongIn(act.fault, 'current')}
        value={current}
        onValue={setCurrent}
      />
      <PasswordField
        label="New password"
        hint={PASSWORD_HINT}
        autocomplete="new-password"
        wrong={wrongIn(act.fault, 'password')}
        value={password}
        onValue={setPassword}
      />
      <OtherFault fault={act.fault} fields={FIELDS} />
      <p class="soft small">This logs out every other browser. Your keys stay as they are.</p>
      <div class="row">
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
