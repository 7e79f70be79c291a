/** The context of administrative operations, their type, and the caps of members. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type * as z from 'zod';
import type { AdminAssets } from '../core/usage/admin-assets.js';
import type { AdminLinks, Links } from '../core/routing/links.js';
import type { JobActions } from '../jobs/job-actions.js';
import type { AssetLimits, CapReached, Store } from '../store/port.js';

/** The addresses of a running coordinator. */
export interface ServerFacts {
  /** `http://127.0.0.1:7070`. */
  readonly address: string;
  /** As configured; null if it is unset. */
  readonly publicUrl: string | null;
}

/** The state of a running coordinator. */
export interface SystemFacts {
  readonly version: string;
  readonly assetLimits: AssetLimits;
  readonly retentionMs: number;
  /** Settings that limit callers, by their names in the configuration file. */
  readonly limits: Readonly<Record<string, number | string | boolean>>;
}

export type Retention = Readonly<
  Record<'retentionMs' | 'usageRetentionMs' | 'auditRetentionMs', number>
>;

export interface AdminContext {
  /** Changes are logged with `by` as actor. */
  readonly store: Store;
  /** The actor: `cli:` and a user of this machine, or `member:` and an id. */
  readonly by: string;
  /**
   * The member who changes their own data and is limited by `CAPS`. Null: an administrator, without
   * such limits.
   */
  readonly boundTo: string | null;
  /** The browser's address; null for a command line on this machine. */
  readonly address: string | null;
  /**
   * The links of the running coordinator; null if the command line itself has opened the store.
   */
  readonly links: (Links & AdminLinks) | null;
  readonly server: ServerFacts | null;
  /** Other coordinators, and whether this one is linked to them. Absent: there are none. */
  readonly linkedNodes?: () => ReadonlyMap<string, boolean>;
  /** Null if no coordinator runs. */
  readonly system: SystemFacts | null;
  /** A member was created: the set-up link of the first one becomes invalid. */
  readonly onMember: () => void;
  /** Something happens with models of the member's own machines. Absent: nobody is told. */
  readonly onModels?: (memberId: string) => void;
  readonly assets: AdminAssets;
  readonly jobActions: JobActions;
  /** Time from a row's creation, or a job's end, to its deletion. */
  readonly retention: Retention;
  /** Whether jobs are accepted, or would be by a running coordinator. */
  readonly asyncEnabled: boolean;
  readonly now: () => number;
}

/** The context without an actor. */
export type AdminParts = Omit<AdminContext, 'by' | 'boundTo' | 'address'>;

/** A read changes nothing, and is cheap enough to be polled: by GET. */
export type CommandKind = 'read' | 'change';

export interface AdminCommand<Kind extends CommandKind, Schema extends z.ZodType, Result> {
  readonly kind: Kind;
  readonly args: Schema;
  /** Throws a `CommandError` for errors that its user can resolve. Returns JSON; times Unix ms. */
  readonly run: (context: AdminContext, args: z.output<Schema>) => Promise<Result>;
}

type Run<Schema extends z.ZodType, Result> = AdminCommand<CommandKind, Schema, Result>['run'];

export function adminRead<Schema extends z.ZodType, Result>(
  args: Schema,
  run: Run<Schema, Result>,
): AdminCommand<'read', Schema, Result> {
  return { kind: 'read', args, run };
}

export function adminChange<Schema extends z.ZodType, Result>(
  args: Schema,
  run: Run<Schema, Result>,
): AdminCommand<'change', Schema, Result> {
  return { kind: 'change', args, run };
}

// How many of each resource a member may create. Administrators have no such limits.

/** Limits of rows that are kept: each of them is read with every list. */
export const CAPS = {
  /** Not revoked. */
  'API keys': 100,
  /** Neither used, revoked nor expired. */
  'open join tokens': 20,
  networks: 20,
  'open invites': 50,
  'open invitations to a network': 100,
  /** Per provider: each is kept in memory. */
  'shares of a provider': 256,
  'blocked members': 256,
} as const satisfies Record<string, number>;

type Capped = keyof typeof CAPS;

/** The cap for the store, which counts and writes in one transaction. Null: no limit. */
export function capOf({ boundTo }: Pick<AdminContext, 'boundTo'>, what: Capped): number | null {
  return boundTo === null ? null : CAPS[what];
}

export function capReached(what: Capped, { count }: CapReached): CommandError {
  const message = `You have ${count} ${what}, and ${CAPS[what]} is the most. End some first.`;
  return new CommandError(EXIT.conflict, message);
}
