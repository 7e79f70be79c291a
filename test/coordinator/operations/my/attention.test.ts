import { attentionOf } from '@inference-gateway/coordinator/operations/my/attention';
import type { HomeFacts } from '@inference-gateway/coordinator/operations/my/attention';
import { MAX_COUNTED_JOBS } from '@inference-gateway/coordinator/store/port';
import { describe, expect, test } from 'vitest';

const NOW = 1_760_000_000_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Expected = readonly [href: string, text: RegExp];
type Key = HomeFacts['keys'][number];
type Own = HomeFacts['providers'][number];
type View = NonNullable<Own['view']>;

const WELL: HomeFacts = {
  now: NOW,
  member: {
    id: 'anna',
    email: 'anna@example.org',
    name: 'Anna',
    role: 'member',
    limits: { requests: null, concurrent: null },
    createdAt: 1,
    disabledAt: null,
    hasPassword: true,
    keepsExcerpts: true,
  },
  providers: [],
  queues: [],
  keys: [],
  use: null,
  invitations: [],
  passwordResetAt: null,
  activity: { failedJobs: 0, hasCalled: true },
  steps: { hasShared: true, hasInvited: true, checklistClosedAt: null },
  queue: { asyncEnabled: true, isPaused: false, isStalled: false },
  admin: null,
  space: {
    used: { memberBytes: 89, totalBytes: 890 },
    limits: { memberBytes: 100, totalBytes: 1_000 },
  },
};

const VIEW: View = {
  providerId: 'den',
  ownerId: 'anna',
  ownerName: 'Anna',
  name: 'den-pc',
  createdAt: 1,
  closed: false,
  shares: [],
  link: null,
  offlineSince: NOW,
  draining: false,
  paused: false,
  services: [],
};

const SHARE = {
  id: 'share',
  serviceId: null,
  model: null,
  members: new Set(['ben']),
  isOpen: true,
  slotsLeft: null,
  maxTokens: null,
};

const INVITATION = {
  networkId: 'friends-id',
  networkName: 'friends',
  memberId: 'anna',
  memberName: 'Anna',
  invitedBy: 'ben',
  inviterName: 'Ben',
  createdAt: 1,
};

function own(provider: Partial<Own> = {}): Own {
  return {
    id: 'den',
    ownerId: 'anna',
    ownerName: 'Anna',
    isOwnerDisabled: false,
    name: 'den-pc',
    createdAt: 1,
    approvedAt: 1,
    lastSeenAt: null,
    draining: false,
    paused: false,
    services: [],
    host: null,
    view: VIEW,
    ...provider,
  };
}

function key(expiresAt: number | null, rest: Partial<Key> = {}): Key {
  return {
    id: 'key',
    memberId: 'anna',
    memberEmail: 'anna@example.org',
    name: 'laptop',
    prefix: 'gwk_1234',
    scope: 'any',
    assets: null,
    rules: null,
    createdAt: 1,
    lastUsedAt: null,
    expiresAt,
    previousUntil: null,
    disabledAt: null,
    revokedAt: null,
    ...rest,
  };
}

const queue = (state: Partial<HomeFacts['queue']>): Partial<HomeFacts> => ({
  queue: { ...WELL.queue, ...state },
});
const failedJobs = (count: number): Partial<HomeFacts> => ({
  activity: { ...WELL.activity, failedJobs: count },
});
const used = (memberBytes: number, totalBytes = 0): Partial<HomeFacts> => ({
  space: { ...WELL.space, used: { memberBytes, totalBytes } },
});
const ADMIN = { devices: 0, waiting: 0, lastBackupAt: null, since: NOW - 6 * DAY_MS };
const backedUp = (daysAgo: number): Partial<HomeFacts> => ({
  admin: { ...ADMIN, lastBackupAt: NOW - daysAgo * DAY_MS, since: 1 },
});

const USED = { requests: 0, tokens: 0, images: 0, audioMs: 0 };
/** Of a limit of 1,000 tokens a day. */
const tokens = (count: number): Partial<HomeFacts> => ({
  member: {
    ...WELL.member,
    limits: { ...WELL.member.limits, quota: { day: { tokens: 1_000 }, month: {} } },
  },
  use: { day: { ...USED, tokens: count }, month: { ...USED, tokens: 9_999 } },
});

describe('all is well', () => {
  test.each<[string, Partial<HomeFacts>]>([
    ['with nothing at all', {}],
    ['offline, and nobody counts on it', { providers: [own()] }],
    ['a key that lives for another month', { keys: [key(NOW + 30 * DAY_MS), key(null)] }],
    ['a key that has expired already', { keys: [key(NOW - 1)] }],
    ['a key that opens nothing', { keys: [key(NOW + 1, { revokedAt: 1 })] }],
    ['a key that is switched off', { keys: [key(NOW + 1, { disabledAt: 1 })] }],
    ['less than four fifths of a limit are used', tokens(799)],
    ['no space is counted', { space: { ...WELL.space, limits: null } }],
    ['all space is an administrator’s', used(0, 1_000)],
    ['nothing waits for an administrator, in the first week', { admin: ADMIN }],
    ['a backup of last week', backedUp(6.9)],
  ])('%s', (_, facts) => {
    expect(attentionOf({ ...WELL, ...facts })).toEqual([]);
  });
});

describe('something is to be looked at', () => {
  test.each<[string, Partial<HomeFacts>, ...Expected]>([
    ['async_disabled', queue({ asyncEnabled: false }), '/queue', /switched off/],
    ['worker_stalled', queue({ isStalled: true }), '/queue', /none has been started/],
    ['queue_paused', queue({ isPaused: true }), '/queue', /paused the queue/],
    [
      'provider_offline',
      { providers: [own({ view: { ...VIEW, shares: [SHARE] } })] },
      '/providers/den',
      /den-pc is offline/,
    ],
    ['provider_paused', { providers: [own({ paused: true })] }, '/providers/den', /paused/],
    [
      'provider_unapproved',
      { providers: [own({ approvedAt: null, view: null })] },
      '/providers/den',
      /approve/,
    ],
    ['jobs_failed', failedJobs(1), '/jobs?status=FAILED', /^1 job has failed/],
    ['jobs_failed', failedJobs(2), '/jobs?status=FAILED', /^2 jobs have failed/],
    ['jobs_failed', failedJobs(MAX_COUNTED_JOBS), '/jobs?status=FAILED', /^100 or more jobs/],
    [
      'password_reset',
      { passwordResetAt: NOW },
      '/settings/security',
      /reset on 2025-10-09 by a link that an admin made/,
    ],
    ['key_expiring', { keys: [key(NOW + HOUR_MS)] }, '/settings/token', /within a day/],
    ['key_expiring', { keys: [key(NOW + 7 * DAY_MS)] }, '/settings/token', /laptop .* in 7 days/],
    ['quota_near', tokens(800), '/usage', /^You have used 800 of your 1,000 tokens of this day/],
    ['storage_nearly_full', used(90), '/library', /nearly full/],
    ['storage_nearly_full', { admin: ADMIN, ...used(0, 900) }, '/admin/system', /nearly full/],
    [
      'network_invitation',
      { invitations: [INVITATION] },
      '/network',
      /^Ben invites you to the network friends\.$/,
    ],
    ['devices_waiting', { admin: { ...ADMIN, devices: 2 } }, '/device', /approval: 2/],
    ['providers_waiting', { admin: { ...ADMIN, waiting: 1 } }, '/admin/providers', /approval: 1/],
    ['backup_due', backedUp(7), '/admin/system', /^The last backup is 7 days old\.$/],
    ['backup_due', backedUp(31.5), '/admin/system', /is 31 days old/],
    [
      'backup_due',
      { admin: { ...ADMIN, since: NOW - 7 * DAY_MS } },
      '/admin/system',
      /^No backup has been made yet\.$/,
    ],
  ])('%s', (kind, facts, ...[href, text]) => {
    const items = attentionOf({ ...WELL, ...facts });
    expect(items).toEqual([{ kind, href, text: expect.stringMatching(text) }]);
  });

  test('of very many things the most urgent ones', () => {
    const providers = Array.from({ length: 30 }, (_, n) => own({ id: `p${n}`, paused: true }));
    const items = attentionOf({ ...WELL, ...queue({ isPaused: true }), providers });
    expect(items).toHaveLength(20);
    expect(items[0]).toMatchObject({ kind: 'queue_paused' });
  });
});
