/** The operations that an engine carries out. */
import type { AskedOn, Store, UsageRow } from '../port.js';
import type { Act } from './audit/audit-trail.js';
import type { Operation } from './statement.js';

/** The others are the client's own: it batches, probes, watches and closes. */
interface Asked extends Omit<
  Store,
  | 'by'
  | 'recordUsage'
  | 'noteWanted'
  | 'isWritable'
  | 'isCurrent'
  | 'clockWarning'
  | 'watchSharing'
  | 'close'
> {
  writeWanted(asked: readonly AskedOn[]): Promise<void>;
  writeUsage(rows: readonly UsageRow[]): Promise<void>;
  probeWrite(): Promise<void>;
}

/** Operations whose outcome depends on the actor, which the client adds to their argument. */
export type OfActor = 'createInvite' | 'findDevice' | 'approveDevice' | 'denyDevice';

/** Operations that each engine has of its own. */
export type OfEngine = 'releasePages' | 'compact' | 'databaseFacts' | 'holdsUpkeep';

export type OperationName = keyof Asked;

export type OperationArguments<Name extends OperationName> = Name extends OfActor
  ? [subject: Parameters<Asked[Name]>[0] & Pick<Act, 'actor'>, now: number]
  : Parameters<Asked[Name]>;

export type OperationResult<Name extends OperationName> = Awaited<ReturnType<Asked[Name]>>;

export type Operations = {
  readonly [Name in Exclude<OperationName, OfEngine>]: (
    ...args: OperationArguments<Name>
  ) => Operation<OperationResult<Name>>;
};
