/** Notices for a member, the most urgent first. */
import { MAX_COUNTED_JOBS } from '../../store/port.js';
import type { ModelQueue, Store } from '../../store/port.js';
import { isStalled } from '../../core/jobs/waiting-reason.js';
import { describeNear, nearLimits, NOTHING } from '../../core/usage/quota.js';
import { lastBackupAt } from '../system.js';
import type { Mine } from './command.js';

type AttentionKind =
  | 'async_disabled'
  | 'worker_stalled'
  | 'queue_paused'
  | 'provider_offline'
  | 'provider_paused'
  | 'provider_unapproved'
  | 'jobs_failed'
  | 'key_expiring'
  | 'quota_near'
  | 'password_reset'
  | 'network_invitation'
  | 'storage_nearly_full'
  | 'devices_waiting'
  | 'providers_waiting'
  | 'backup_due';

export interface AttentionItem {
  readonly kind: AttentionKind;
  readonly text: string;
  /** The page on which it can be resolved. */
  readonly href: string;
}

type Finding = (facts: HomeFacts) => readonly AttentionItem[];

const DAY_MS = 86_400_000;

const EXPIRES_SOON_MS = 7 * DAY_MS;

const BACKUP_DUE_DAYS = 7;

const NEARLY_FULL = 0.9;

/** Most notices at a time; the rest follows when these are resolved. */
const MAX_ITEMS = 20;

export function attentionOf(facts: HomeFacts): readonly AttentionItem[] {
  return FINDINGS.flatMap((find) => find(facts)).slice(0, MAX_ITEMS);
}

const queueFindings: Finding = ({ queue }) => [
  ...when(!queue.asyncEnabled, {
    kind: 'async_disabled',
    text: 'Jobs and batches are switched off on this gateway.',
    href: '/queue',
  }),
  ...when(queue.isStalled, {
    kind: 'worker_stalled',
    text: 'Jobs wait, but none has been started for a minute. Tell an admin.',
    href: '/queue',
  }),
  ...when(queue.isPaused, {
    kind: 'queue_paused',
    text: 'An admin has paused the queue. Jobs wait until it is resumed.',
    href: '/queue',
  }),
];

const providerFindings: Finding = ({ providers }) =>
  providers.flatMap(({ id, name, view, paused, approvedAt }) => {
    const href = `/providers/${id}`;
    const link = view?.link ?? null;
    const isShared = (view?.shares ?? []).length > 0;
    const isPaused = paused || (link !== null && link.accepts !== 'all');
    return [
      ...when(link === null && isShared, {
        kind: 'provider_offline',
        text: `${name} is offline, but others rely on its shares.`,
        href,
      }),
      ...when(isPaused, {
        kind: 'provider_paused',
        text: `${name} is paused and takes no work of others.`,
        href,
      }),
      ...when(approvedAt === null, {
        kind: 'provider_unapproved',
        text: `${name} waits for an admin to approve it.`,
        href,
      }),
    ];
  });

const jobFindings: Finding = ({ activity: { failedJobs } }) => {
  const count = failedJobs >= MAX_COUNTED_JOBS ? `${failedJobs} or more` : String(failedJobs);
  return when(failedJobs > 0, {
    kind: 'jobs_failed',
    text: `${count} ${failedJobs === 1 ? 'job has' : 'jobs have'} failed within a day.`,
    href: '/jobs?status=FAILED',
  });
};

const keyFindings: Finding = ({ keys, now }) =>
  keys.flatMap(({ name, expiresAt, revokedAt, disabledAt }) => {
    if (expiresAt === null || revokedAt !== null || disabledAt !== null) return [];
    const leftMs = expiresAt - now;
    return when(leftMs > 0 && leftMs <= EXPIRES_SOON_MS, {
      kind: 'key_expiring',
      text: `The key ${name} expires ${inDays(leftMs)}.`,
      href: '/settings/token',
    });
  });

const NO_LIMIT = { day: {}, month: {} };

const NO_USE = { day: NOTHING, month: NOTHING };

const quotaFindings: Finding = ({ member, use, now }) =>
  nearLimits(member.limits.quota ?? NO_LIMIT, use ?? NO_USE, now).map((near) => ({
    kind: 'quota_near',
    text: describeNear(near),
    href: '/usage',
  }));

/** In UTC: the coordinator does not know where its member is. */
const resetFindings: Finding = ({ passwordResetAt }) =>
  passwordResetAt === null
    ? []
    : [
        {
          kind: 'password_reset',
          text:
            `Your password was reset on ${new Date(passwordResetAt).toISOString().slice(0, 10)} ` +
            'by a link that an admin made. If it was not you, change it, and tell an admin.',
          href: '/settings/security',
        },
      ];

const invitationFindings: Finding = ({ invitations }) =>
  invitations.map(({ inviterName, networkName }) => ({
    kind: 'network_invitation',
    text: `${inviterName} invites you to the network ${networkName}.`,
    href: '/network',
  }));

const spaceFindings: Finding = ({ space, admin }) => {
  const { used, limits } = space;
  if (limits === null) return [];
  return [
    ...when(isNearlyFull(used.memberBytes, limits.memberBytes), {
      kind: 'storage_nearly_full',
      text: 'Your library is nearly full. Delete what you do not need.',
      href: '/library',
    }),
    ...when(admin !== null && isNearlyFull(used.totalBytes, limits.totalBytes), {
      kind: 'storage_nearly_full',
      text: 'The space for generated files is nearly full. Raise GATEWAY_ASSETS_MAX_GB or prune.',
      href: '/admin/system',
    }),
  ];
};

const adminFindings: Finding = ({ admin, now }) => {
  if (admin === null) return [];
  const { waiting, lastBackupAt, since } = admin;
  // No notice about backups in the first days of a gateway.
  const backupDays = Math.floor((now - (lastBackupAt ?? since)) / DAY_MS);
  return [
    ...when(admin.devices > 0, {
      kind: 'devices_waiting',
      text: `Machines whose codes wait for approval: ${admin.devices}.`,
      href: '/device',
    }),
    ...when(waiting > 0, {
      kind: 'providers_waiting',
      text: `Providers that wait for approval: ${waiting}.`,
      href: '/admin/providers',
    }),
    ...when(backupDays >= BACKUP_DUE_DAYS, {
      kind: 'backup_due',
      text:
        lastBackupAt === null
          ? 'No backup has been made yet.'
          : `The last backup is ${backupDays} days old.`,
      href: '/admin/system',
    }),
  ];
};

/** What is recent on the home screen. */
export const ACTIVITY_MS = 86_400_000;

const FINDINGS: readonly Finding[] = [
  resetFindings,
  queueFindings,
  providerFindings,
  jobFindings,
  keyFindings,
  quotaFindings,
  spaceFindings,
  adminFindings,
  invitationFindings,
];

function when(isSo: boolean, item: AttentionItem): readonly AttentionItem[] {
  return isSo ? [item] : [];
}

function isNearlyFull(bytes: number, limit: number): boolean {
  return bytes >= limit * NEARLY_FULL;
}

function inDays(ms: number): string {
  const days = Math.ceil(ms / DAY_MS);
  return days <= 1 ? 'within a day' : `in ${days} days`;
}

// The data of the home screen.

export type HomeFacts = Awaited<ReturnType<typeof gatherHome>>;

/** Prefers the state in memory of a running coordinator to the store. */
export async function gatherHome({ context, member }: Mine) {
  const { store, links, jobActions, system, asyncEnabled } = context;
  const now = context.now();
  // In parallel: one after the other, each would be a separate round trip to the database.
  const isLimited = (member.limits.quota ?? null) !== null;
  const [
    all,
    queues,
    own,
    keys,
    activity,
    isPaused,
    used,
    invitations,
    resetAt,
    admin,
    use,
    steps,
  ] = await Promise.all([
    store.modelQueues(null),
    store.modelQueues(member.id),
    // Those, too, whose agent has not been here since the coordinator started.
    store.listProviders(member.id),
    store.listKeys(member.id),
    store.memberActivity(member.id, now - ACTIVITY_MS),
    store.isQueuePaused(),
    store.assetSpace(member.id),
    store.listNetworkInvitations({ memberId: member.id }),
    store.lastPasswordReset(member.id, now),
    member.role === 'admin' ? adminFacts(store, now) : null,
    isLimited ? store.quotaUse({ memberId: member.id, keyId: null }, now) : null,
    store.firstSteps(member.id),
  ]);
  const views = new Map(links?.providers().map((view) => [view.providerId, view]));
  return {
    now,
    member,
    providers: own.map((provider) => ({ ...provider, view: views.get(provider.id) ?? null })),
    queues,
    keys,
    activity,
    /** Null if the member has no limits. */
    use,
    invitations,
    passwordResetAt: resetAt,
    steps,
    queue: {
      asyncEnabled,
      isPaused,
      isStalled: asyncEnabled && isStalled(queuedIn(all), jobActions.lastTickAt, now),
    },
    admin,
    space: { used, limits: system?.assetLimits ?? null },
  };
}

/** Requests that wait for an administrator. */
async function adminFacts(store: Store, now: number) {
  const [members, devices] = await Promise.all([store.listMembers(), store.listDevices(now)]);
  return {
    devices: devices.length,
    // Those, too, whose agent has not been here since the coordinator started.
    waiting: await store.countWaitingProviders(),
    lastBackupAt: await lastBackupAt(store),
    /** Unix ms at which its first member was created. */
    since: Math.min(...members.map(({ createdAt }) => createdAt)),
  };
}

function queuedIn(queues: readonly ModelQueue[]): number {
  return queues.reduce((total, { queued }) => total + queued, 0);
}
