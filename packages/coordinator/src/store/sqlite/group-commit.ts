/**
 * Runs operations that arrived together in one transaction. With `synchronous = FULL` a commit
 * waits about 3 ms for the disk: 330 writes a second one by one, more than 7,000 in groups of 50.
 */
import type { Database } from 'better-sqlite3';
import { OPERATIONS } from '../operations/all.js';
import type { Operation } from '../operations/statement.js';
import { SYSTEM } from '../operations/audit/audit-trail.js';
import { carryOutOn } from './carry-out.js';
import { compact, databaseFacts, releasePages } from './free-pages.js';
import type { Call, CallOutcome, Group, GroupOutcome } from './group.js';

/**
 * Answers each call after the commit. A failing call is rolled back to its savepoint and does not
 * affect the others; if the commit fails, all have failed.
 */
export function groupCommit(database: Database, nodeId: string): (group: Group) => GroupOutcome {
  const carryOut = carryOutOn(database);
  const invoke = ({ name, args, actor, at }: Call): unknown => {
    const context = { actor, at, nodeId };
    if (name === 'compact') return compact(database);
    if (name === 'holdsUpkeep') return true;
    if (name === 'releasePages') return releasePages(database, Number(args[0]));
    if (name === 'databaseFacts') return databaseFacts(database);
    const operation = OPERATIONS[name] as (...args: readonly unknown[]) => Operation<unknown>;
    return carryOut(operation(...args), context);
  };
  // better-sqlite3 makes a transaction inside a transaction a savepoint.
  const runOne = database.transaction(invoke);
  const readEpochs = epochReader(database);
  const readFacts = () => carryOut(OPERATIONS.sharingFacts(), { actor: SYSTEM, at: 0, nodeId });
  let known: Epochs | null = null;
  const runAll = database.transaction(({ calls, watchesSharing }: Group) => {
    const outcomes = calls.map((call) => attempt(call, runOne));
    // Inside the transaction: if the epochs cannot be read, nothing has changed.
    const epochs = readEpochs();
    const isNews = watchesSharing && epochs.sharing !== known?.sharing;
    return { outcomes, epochs, sharing: isNews ? readFacts() : null };
  });
  return (group) => {
    // An operation outside of a transaction is alone in its group.
    const [first] = group.calls;
    if (first?.name === 'compact') return unwatched([attempt(first, invoke)]);
    try {
      // IMMEDIATE takes the write lock at once: a deferred one can be refused it half-way.
      const { outcomes, epochs, sharing } = runAll.immediate(group);
      const keysChanged = epochs.keys !== known?.keys;
      known = epochs;
      return { outcomes, keysChanged, sharing };
    } catch (error) {
      return unwatched(group.calls.map(() => failure(error)));
    }
  };

  function attempt(call: Call, run: (call: Call) => unknown): CallOutcome {
    try {
      return { kind: 'done', value: run(call) };
    } catch (error) {
      // A full disk rolls back the whole transaction, with what the calls before this one wrote.
      if (run !== invoke && !database.inTransaction) throw error;
      return failure(error);
    }
  }
}

interface Epochs {
  readonly keys: number;
  readonly sharing: number;
}

/** Epochs count changes by all processes: those of another one are noticed with the next group. */
function epochReader(database: Database): () => Epochs {
  const select = database.prepare<[], Epochs>(
    `select (select value from epochs where name = 'keys') as keys,
       (select value from epochs where name = 'sharing') as sharing`,
  );
  return () => {
    const epochs = select.get();
    if (epochs === undefined) throw new Error('the table of epochs is empty');
    return epochs;
  };
}

/** No known change. */
function unwatched(outcomes: readonly CallOutcome[]): GroupOutcome {
  return { outcomes, keysChanged: false, sharing: null };
}

/** SQLite's result codes for errors of the disk or the file, rather than of the statement. */
const STORAGE_CODES =
  /^SQLITE_(FULL|IOERR|READONLY|CORRUPT|NOTADB|CANTOPEN|BUSY|LOCKED|NOMEM|PERM|NOLFS|PROTOCOL)/;

function failure(error: unknown): CallOutcome {
  const { message, code } = error as Error & { code?: string };
  return { kind: 'failed', storage: STORAGE_CODES.test(code ?? ''), message };
}
