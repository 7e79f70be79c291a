import { admin } from '../../api/commands.js';
import { nameOf } from './provider.js';
import type { Provider } from './provider.js';
import type { RowAction } from './row-menu.js';

type Switch = 'approve' | 'drain' | 'resume' | 'pause' | 'unpause';

const SWITCHES: Readonly<Record<Switch, { readonly text: string; readonly told: string }>> = {
  approve: { text: 'Approve', told: 'is approved, and gets work.' },
  drain: { text: 'Drain', told: 'finishes what it does and gets nothing new.' },
  resume: { text: 'End draining', told: 'gets work again.' },
  pause: { text: 'Pause', told: 'serves only its owner now.' },
  unpause: { text: 'Resume', told: 'serves others again.' },
};

export function providerActions(provider: Provider): readonly RowAction[] {
  const { approved, draining, paused, online } = provider;
  return [
    ...(approved ? [] : [switchOf(provider, 'approve')]),
    switchOf(provider, draining ? 'resume' : 'drain'),
    switchOf(provider, paused ? 'unpause' : 'pause'),
    ...(online ? [kick(provider)] : []),
    remove(provider),
  ];
}

function switchOf(provider: Provider, to: Switch): RowAction {
  const { text, told } = SWITCHES[to];
  return {
    kind: 'now',
    text,
    async run() {
      await admin(`provider.${to}`, { provider: provider.id });
      return `${nameOf(provider)} ${told}`;
    },
  };
}

function kick(provider: Provider): RowAction {
  const name = nameOf(provider);
  return {
    kind: 'ask',
    text: 'Disconnect',
    title: `Disconnect ${name}?`,
    explain:
      'Its link is closed, and what it was working on goes elsewhere or fails. ' +
      'Its agent connects again by itself.',
    async run() {
      await admin('provider.kick', { provider: provider.id });
      return `${name} is disconnected.`;
    },
  };
}

function remove(provider: Provider): RowAction {
  const name = nameOf(provider);
  return {
    kind: 'ask',
    text: 'Remove',
    title: `Remove ${name}?`,
    explain:
      'It goes with everything that it shares, and its agent must log in again as another ' +
      'provider. This cannot be taken back.',
    async run() {
      await admin('provider.remove', { provider: provider.id });
      return `${name} is removed.`;
    },
  };
}
