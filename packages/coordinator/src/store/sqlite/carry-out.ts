/** Carries out operations on one connection of SQLite, without a pause. */
import type { Database, Statement as SqliteStatement } from 'better-sqlite3';
import type { CallContext, Operation, Prepared, Step } from '../operations/statement.js';

export type CarryOut = <Result>(operation: Operation<Result>, context: CallContext) => Result;

/** Prepares each statement when it is first used. */
export function carryOutOn(database: Database): CarryOut {
  const statements = new Map<Prepared, SqliteStatement<[object]>>();

  function prepared(prepare: Prepared): SqliteStatement<[object]> {
    const known = statements.get(prepare);
    if (known !== undefined) return known;
    const { text, isPlucked } = prepare;
    const made = database.prepare<[object]>(typeof text === 'string' ? text : text.sqlite);
    if (isPlucked) made.pluck();
    statements.set(prepare, made);
    return made;
  }

  function carryOut(step: Step, context: CallContext): unknown {
    switch (step.kind) {
      case 'get':
        return prepared(step.statement).get(step.parameters);
      case 'all':
        return prepared(step.statement).all(step.parameters);
      case 'run':
        return prepared(step.statement).run(step.parameters).changes;
      case 'each': {
        const statement = prepared(step.statement);
        return step.parameters.map((one) => statement.run(one).changes);
      }
      case 'together':
        return step.operations.map((one) => run(one, context));
      case 'context':
        return context;
      case 'lock':
        // This connection is the only one that writes.
        return undefined;
    }
  }

  function run<Result>(operation: Operation<Result>, context: CallContext): Result {
    let next = operation.next();
    while (next.done !== true) next = operation.next(carryOut(next.value, context));
    return next.value;
  }

  return run;
}
