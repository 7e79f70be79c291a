/**
 * Runs operations that arrived together in one transaction. With `synchronous = FULL` a commit
 * waits for the disk, about 3 ms: one by one that is 330 writes a second, in groups of 50 it is
 * more than 7,000.
 */
import type { Database } from 'better-sqlite3';
import type { AuditTrail } from './audit-trail.js';
import type { Call, CallOutcome, Group, GroupOutcome, Operations } from './operations.js';

/**
 * Answers each call after the commit. A call that fails is rolled back to its savepoint and spoils
 * no other; where the commit fails, all have failed.
 */
export function groupCommit(
  database: Database,
  operations: Operations,
  trail: AuditTrail,
): (group: Group) => GroupOutcome {
  // better-sqlite3 makes a transaction inside a transaction a savepoint.
  const runOne = database.transaction((call: Call) => {
    trail.actor = call.actor;
    return invoke(operations, call);
  });
  const runAll = database.transaction(({ calls, watchesSharing }: Group): GroupOutcome => {
    const outcomes = calls.map((call) => attempt(call, (_, one) => runOne(one)));
    // Once a group, and in its transaction: where they cannot be told, nothing has changed.
    const asks = watchesSharing && calls.some((call, i) => changesSharing(call, outcomes[i]));
    return { outcomes, sharing: asks ? operations.sharingFacts() : null };
  });
  return (group) => {
    // The only one that is no part of a transaction, and so alone in its group.
    const [first] = group.calls;
    if (first?.name === 'compact') return { outcomes: [attempt(first, invoke)], sharing: null };
    try {
      // IMMEDIATE takes the write lock at once: a deferred one can be refused it half-way.
      return runAll.immediate(group);
    } catch (error) {
      return { outcomes: group.calls.map(() => failure(error)), sharing: null };
    }
  };

  function attempt(call: Call, run: typeof invoke): CallOutcome {
    try {
      return { kind: 'done', value: run(operations, call) };
    } catch (error) {
      // A full disk rolls back the whole transaction, with what the calls before this one wrote.
      if (run !== invoke && !database.inTransaction) throw error;
      return failure(error);
    }
  }
}

function invoke(operations: Operations, { name, args }: Call): unknown {
  const operation = operations[name] as (...args: readonly unknown[]) => unknown;
  return operation(...args);
}

/** Operations after which somebody may see more or less than before. */
const SHARING_CHANGES: ReadonlySet<keyof Operations> = new Set([
  'changeMember',
  'deleteMember',
  'acceptInvite',
  'enroll',
  'collectDevice',
  'approveProvider',
  'removeProvider',
  'createNetwork',
  'deleteNetwork',
  'joinNetwork',
  'leaveNetwork',
  'answerNetworkInvitation',
  'putShare',
  'deleteShare',
  'blockMember',
  'unblockMember',
]);

function changesSharing({ name }: Call, outcome: CallOutcome | undefined): boolean {
  return outcome?.kind === 'done' && SHARING_CHANGES.has(name);
}

/** SQLite's result codes that tell of the disk or the file rather than of the statement. */
const STORAGE_CODES =
  /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|BUSY|LOCKED|NOMEM|PERM|NOLFS|PROTOCOL)/;

function failure(error: unknown): CallOutcome {
  const { message, code } = error as Error & { code?: string };
  return { kind: 'failed', storage: STORAGE_CODES.test(code ?? ''), message };
}
