/** What the home screen is made of. */
import { lastBackupAt } from '../backups.js';
import { isStalled } from '../../core/jobs/waiting-reason.js';
import type { ModelQueue, Store } from '../../store/port.js';
import type { Mine } from './command.js';

const DAY_MS = 86_400_000;

export type HomeFacts = Awaited<ReturnType<typeof gatherHome>>;

/** What a running coordinator has in memory is read there, and not from the store. */
export async function gatherHome({ context, member }: Mine) {
  const { store, sessions, desk, system, asyncEnabled } = context;
  const now = context.now();
  // All at once: asked for one after the other, each would be a way of its own to the database.
  const [all, queues, own, keys, activity, isPaused, used, invitations, admin] = await Promise.all([
    store.modelQueues(null),
    store.modelQueues(member.id),
    // Those, too, whose agent has not been here since the coordinator started.
    store.listProviders(member.id),
    store.listKeys(member.id),
    store.memberActivity(member.id, now - DAY_MS),
    store.isQueuePaused(),
    store.assetSpace(member.id),
    store.listNetworkInvitations({ memberId: member.id }),
    member.role === 'admin' ? adminFacts(store, now) : null,
  ]);
  const views = new Map(sessions?.providers().map((view) => [view.providerId, view]));
  return {
    now,
    member,
    providers: own.map((provider) => ({ ...provider, view: views.get(provider.id) ?? null })),
    queues,
    keys,
    activity,
    invitations,
    queue: {
      asyncEnabled,
      isPaused,
      isStalled: asyncEnabled && isStalled(queuedIn(all), desk.lastTickAt, now),
    },
    admin,
    space: { used, limits: system?.assetLimits ?? null },
  };
}

/** What waits for an administrator. */
async function adminFacts(store: Store, now: number) {
  const [members, devices] = await Promise.all([store.listMembers(), store.listDevices(now)]);
  return {
    devices: devices.length,
    // Those, too, whose agent has not been here since the coordinator started.
    waiting: await store.countWaitingProviders(),
    lastBackupAt: await lastBackupAt(store),
    /** Unix ms: when its first member came. */
    since: Math.min(...members.map(({ createdAt }) => createdAt)),
  };
}

function queuedIn(queues: readonly ModelQueue[]): number {
  return queues.reduce((total, { queued }) => total + queued, 0);
}
