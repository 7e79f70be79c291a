/** The demo's members and networks. */
import type { ProviderScope } from '../core/access/caller.js';
import type { Role } from '../store/port.js';

export type MemberName = 'Anna' | 'Ben' | 'Chiara' | 'Dov' | 'Emi';

interface DemoKey {
  readonly name: string;
  readonly scope: ProviderScope;
}

interface DemoMember {
  readonly name: MemberName;
  readonly role: Role;
  /** The demo's own activity uses the first key. */
  readonly keys: readonly [DemoKey, ...DemoKey[]];
  /** Requests on a typical day. */
  readonly callsPerDay: number;
}

export const MEMBERS: readonly [DemoMember, ...DemoMember[]] = [
  {
    name: 'Anna',
    role: 'admin',
    keys: [
      { name: 'demo', scope: 'any' },
      { name: 'editor', scope: 'any' },
      { name: 'home-assistant', scope: 'own' },
    ],
    callsPerDay: 46,
  },
  { name: 'Ben', role: 'member', keys: [{ name: 'notebook', scope: 'any' }], callsPerDay: 31 },
  {
    name: 'Chiara',
    role: 'member',
    keys: [
      { name: 'subtitles', scope: 'any' },
      { name: 'thesis', scope: 'own' },
    ],
    callsPerDay: 24,
  },
  { name: 'Dov', role: 'member', keys: [{ name: 'bot', scope: 'any' }], callsPerDay: 13 },
  { name: 'Emi', role: 'member', keys: [{ name: 'phone', scope: 'any' }], callsPerDay: 9 },
];

interface DemoNetwork {
  readonly name: string;
  readonly owner: MemberName;
  /** Without the owner. */
  readonly members: readonly MemberName[];
}

export const NETWORKS: readonly DemoNetwork[] = [
  { name: 'friends', owner: 'Anna', members: ['Ben', 'Chiara', 'Dov', 'Emi'] },
  { name: 'film-club', owner: 'Chiara', members: ['Anna', 'Emi'] },
];

/** A person whose invite is still open. */
export const INVITED = 'farid@example.org';

export function emailOf(name: MemberName): string {
  return `${name.toLowerCase()}@example.org`;
}
