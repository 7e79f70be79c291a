import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso';
import { LinkButton } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { Page } from '../../ui/page.js';
import { Empty } from '../../ui/table/states.js';
import { Tabs } from '../../ui/button/tabs.js';
import './docs.css';
import { Endpoints } from './endpoints.js';
import { Errors } from './errors.js';
import { DOCUMENT } from './open-api.js';
import { QuickStart } from './quick-start.js';

const TABS = [
  { href: '/docs', text: 'Quick start' },
  { href: '/docs/endpoints', text: 'Endpoints' },
  { href: '/docs/errors', text: 'Errors' },
];

const PARTS = new Map<string, ComponentType>([
  ['', QuickStart],
  ['endpoints', Endpoints],
  ['errors', Errors],
]);

export function Docs() {
  const part = useRoute().params['part'] ?? '';
  const Part = PARTS.get(part) ?? Unknown;
  // In a tab of its own: this page does not draw it.
  const actions = (
    <a class="button" href={DOCUMENT} target="_blank" rel="noreferrer">
      <Icon name="external-link" />
      OpenAPI document
    </a>
  );
  return (
    <Page title="Docs" actions={actions}>
      <Tabs label="Docs" tabs={TABS} />
      <Part />
    </Page>
  );
}

function Unknown() {
  return (
    <Empty title="There is no such part of the docs.">
      <LinkButton href="/docs">Go to the quick start</LinkButton>
    </Empty>
  );
}
