/** What an administrative operation works on, and the form that each has. */
import type * as z from 'zod';
import type { AdminAssets } from '../core/usage/admin-assets.js';
import type { AdminLinks, Links } from '../core/routing/links.js';
import type { JobActions } from '../jobs/job-actions.js';
import type { AssetLimits, Store } from '../store/port.js';

/** Where a running coordinator is found. */
export interface ServerFacts {
  /** `http://127.0.0.1:7070`. */
  readonly address: string;
  /** As configured; null if it is unset. */
  readonly publicUrl: string | null;
}

/** What a running coordinator knows of itself. */
export interface SystemFacts {
  readonly version: string;
  /** Looks at the file of the database. */
  readonly database: () => { readonly bytes: number; readonly schemaVersion: number };
  readonly assetLimits: AssetLimits;
  readonly retentionMs: number;
  /** Settings that bound what callers may do, by what the configuration file calls them. */
  readonly limits: Readonly<Record<string, number | string | boolean>>;
}

export type Retention = Readonly<
  Record<'retentionMs' | 'usageRetentionMs' | 'auditRetentionMs', number>
>;

export interface AdminContext {
  /** What it changes is written down as `by`'s. */
  readonly store: Store;
  /** Who asks: `cli:` and a user of this machine. */
  readonly by: string;
  /**
   * The member who changes what is their own: `CAPS` limit them. Null: an administrator, who has no
   * such limits.
   */
  readonly boundTo: string | null;
  /** Where somebody's browser asks from; null if a command line of this machine does. */
  readonly address: string | null;
  /**
   * The running coordinator's links, or null if the command line itself has opened the store.
   */
  readonly links: (Links & AdminLinks) | null;
  readonly server: ServerFacts | null;
  /** Null if no coordinator runs. */
  readonly system: SystemFacts | null;
  /** Somebody is a member now: the first one is not to be made by its link any more. */
  readonly onMember: () => void;
  readonly assets: AdminAssets;
  readonly jobActions: JobActions;
  /** From a row's making, or a job's end, to its deletion. */
  readonly retention: Retention;
  /** Whether jobs are taken, or would be where no coordinator runs. */
  readonly asyncEnabled: boolean;
  readonly now: () => number;
}

/** What there is before anybody asks. */
export type AdminParts = Omit<AdminContext, 'by' | 'boundTo' | 'address'>;

/** A read changes nothing, and costs little enough to be asked for again and again: by GET. */
export type CommandKind = 'read' | 'change';

export interface AdminCommand<Kind extends CommandKind, Schema extends z.ZodType, Result> {
  readonly kind: Kind;
  readonly args: Schema;
  /** Throws a `CommandError` for what its user can act on. The result is JSON, times Unix ms. */
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
