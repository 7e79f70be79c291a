/**
 * Operations of the store, written once for all engines. An operation is a generator: it yields
 * what the database is to do, and is resumed with the outcome. SQLite's engine carries out each
 * step at once, on the thread of its connection; PostgreSQL's engine awaits it.
 */

/** What an operation waits for. */
export type Step = Query | Each | Together | Lock | AskContext;

interface Lock {
  readonly kind: 'lock';
  readonly name: string;
}

interface AskContext {
  readonly kind: 'context';
}

interface Query {
  readonly kind: 'get' | 'all' | 'run';
  readonly statement: Prepared;
  readonly parameters: object;
}

/** The same statement for each of a list. */
interface Each {
  readonly kind: 'each';
  readonly statement: Prepared;
  readonly parameters: readonly object[];
}

/** Operations whose first steps go to the database at once, in this order. */
interface Together {
  readonly kind: 'together';
  readonly operations: readonly Operation<unknown>[];
}

/** Only `yield*` of the functions here makes steps, and they know what a step returns. */
export type Operation<Result> = Generator<Step, Result, unknown>;

/** The text of a statement: one for all engines, or one for each if they differ. */
export type SqlText = string | { readonly sqlite: string; readonly postgres: string };

/** What an engine needs of a statement. */
export interface Prepared {
  readonly text: SqlText;
  /** Rows are returned as the value of their first column. */
  readonly isPlucked: boolean;
}

/** The call that an operation belongs to. */
export interface CallContext {
  /** For the audit log. */
  readonly actor: string;
  /** Unix ms. */
  readonly at: number;
  /** Id of the coordinator that uses the store. */
  readonly nodeId: string;
}

/** Parameters are named: `@memberId` takes the member `memberId`. Surplus members are ignored. */
export class Statement<Parameters extends object, Row> implements Prepared {
  readonly text: SqlText;
  readonly isPlucked: boolean;

  constructor(text: SqlText, isPlucked: boolean) {
    this.text = text;
    this.isPlucked = isPlucked;
  }

  /** The first row. */
  *get(parameters: Parameters): Operation<Row | undefined> {
    return (yield { kind: 'get', statement: this, parameters }) as Row | undefined;
  }

  *all(parameters: Parameters): Operation<Row[]> {
    return (yield { kind: 'all', statement: this, parameters }) as Row[];
  }

  /** Returns the number of changed rows. */
  *run(parameters: Parameters): Operation<number> {
    return (yield { kind: 'run', statement: this, parameters }) as number;
  }

  /**
   * Runs it for each, in one round trip; returns the numbers of changed rows. Each changes other
   * rows than the others do: PostgreSQL carries out several as one statement.
   */
  *each(parameters: readonly Parameters[]): Operation<readonly number[]> {
    if (parameters.length === 0) return [];
    return (yield { kind: 'each', statement: this, parameters }) as readonly number[];
  }
}

/** Every statement of the modules that are loaded, for tests of all of them on each engine. */
export const STATEMENTS: Prepared[] = [];

export function statement<Parameters extends object = object, Row = object>(
  text: SqlText,
): Statement<Parameters, Row> {
  return known(new Statement<Parameters, Row>(text, false));
}

/** A statement whose rows are the values of its only column. */
export function valueOf<Parameters extends object, Value>(
  text: SqlText,
): Statement<Parameters, Value> {
  return known(new Statement<Parameters, Value>(text, true));
}

function known<Known extends Prepared>(made: Known): Known {
  STATEMENTS.push(made);
  return made;
}

export function* context(): Operation<CallContext> {
  return (yield { kind: 'context' }) as CallContext;
}

/**
 * Until the end of the transaction, no other operation passes its lock of this name. Engines with
 * one writer need none. What was read before it may have changed.
 */
export function* lock(name: string): Operation<void> {
  yield { kind: 'lock', name };
}

type Results<Of extends readonly Operation<unknown>[]> = {
  -readonly [Index in keyof Of]: Of[Index] extends Operation<infer Result> ? Result : never;
};

/**
 * Carries out operations side by side: on PostgreSQL their first steps share a round trip. None may
 * depend on what another one does after its first step.
 */
export function* together<const Of extends readonly Operation<unknown>[]>(
  operations: Of,
): Operation<Results<Of>> {
  if (operations.length === 0) return [] as Results<Of>;
  return (yield { kind: 'together', operations }) as Results<Of>;
}

/**
 * A statement whose text tests whether a column is in a list, a JSON array. PostgreSQL takes an
 * index for `any (array(…))`, whatever it knows of the table; SQLite for `in`.
 */
export function withList(textOf: (isIn: (column: string, list: string) => string) => string) {
  return {
    sqlite: textOf((column, list) => `${column} in (select value from json_each(${list}))`),
    postgres: textOf((column, list) => {
      return `${column} = any (array(select value from json_each(${list})))`;
    }),
  };
}
