import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import { Appearance } from './appearance.js';
import { NewKey } from './new-key.js';
import type { PartProps } from './part-props.js';
import { Profile } from './profile.js';
import { Security } from './security.js';
import { Token } from './token.js';
import './settings.css';

const TABS = [
  { href: '/settings/token', text: 'Token' },
  { href: '/settings', text: 'Profile' },
  { href: '/settings/security', text: 'Security' },
  { href: '/settings/appearance', text: 'Appearance' },
];

const PARTS = new Map<string, ComponentType<PartProps>>([
  ['', Profile],
  ['token', Token],
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
