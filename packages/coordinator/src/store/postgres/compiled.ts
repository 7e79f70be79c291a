/** Statements of the operations as PostgreSQL gets them: for one row, or for many at once. */
import type { Prepared } from '../operations/statement.js';

/** A statement with `$1`, `$2`, … for its parameters. */
export interface Numbered {
  readonly text: string;
  /** Of the parameters, in order. */
  readonly names: readonly string[];
}

export interface Compiled extends Numbered {
  /** Of the prepared statement. */
  readonly name: string;
  /** The same for several rows; null if there is none. */
  readonly many: Many | null;
}

/**
 * A statement for several rows. One for each row costs the server twice as much, because it
 * prepares the checks and the indexes of the table each time.
 */
export interface Many {
  textFor(rows: number): string;
  /** Of each row, the number of changed rows, from what the statement returned. */
  changes(
    given: readonly Values[],
    returned: readonly Readonly<Record<string, unknown>>[],
  ): number[];
}

type Values = readonly unknown[];

const known = new Map<Prepared, Compiled>();

export function compiled(statement: Prepared): Compiled {
  const found = known.get(statement);
  if (found !== undefined) return found;
  const { text } = statement;
  const one = numbered(typeof text === 'string' ? text : text.postgres);
  const name = `s${known.size + 1}`;
  const made = { ...one, name, many: manyOf(one) };
  known.set(statement, made);
  return made;
}

/** Numbers the parameters, except in quotes, and leaves out what only SQLite is told. */
export function numbered(sql: string): Numbered {
  const names: string[] = [];
  const text = sql
    .replaceAll(/ indexed by \w+/g, '')
    .replaceAll(/'(?:[^']|'')*'|@(\w+)/g, (whole: string, name: string | undefined) => {
      if (name === undefined) return whole;
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
  return { text, names };
}

export function manyOf(one: Numbered): Many | null {
  const many = insertOf(one) ?? updateOf(one);
  if (many === null) return null;
  const texts = new Map<number, string>();
  const textFor = (rows: number): string => {
    const text = texts.get(rows) ?? many.textFor(rows);
    texts.set(rows, text);
    return text;
  };
  return { ...many, textFor };
}

const INSERT =
  /^(insert into \w+ \(([^()]*)\)\s+values )(\([^()]*\))(\s+on conflict \((\w+)\) do nothing)?$/;

function insertOf({ text, names }: Numbered): Many | null {
  const [, head, columns = '', row, unlessKnown = '', key] = INSERT.exec(text.trim()) ?? [];
  if (head === undefined || row === undefined) return null;
  const rowAt = (index: number): string => shifted(row, index * names.length);
  const returning = key === undefined ? '' : `${unlessKnown} returning ${key}`;
  const textFor = (rows: number): string => head + times(rows, rowAt).join(', ') + returning;
  if (key === undefined) return { textFor, changes: (given) => given.map(() => 1) };
  const at = columns.split(',').findIndex((column) => column.trim() === key);
  const parameter = Number(/^\s*\$(\d+)\s*$/.exec(row.slice(1, -1).split(',')[at] ?? '')?.[1]) - 1;
  if (Number.isNaN(parameter)) return null;
  return {
    textFor,
    changes(given, returned) {
      const added = new Set(returned.map((one) => one[key]));
      // Of two with one key, the first was added.
      return given.map((values) => (added.delete(values[parameter]) ? 1 : 0));
    },
  };
}

const UPDATE = /^update (\w+) set\s+([^]+?)\s+where ([^]+)$/;

/** The types of its parameters are those of the columns that they are compared or assigned to. */
function updateOf({ text, names }: Numbered): Many | null {
  const [, table, assignments, condition] = UPDATE.exec(text.trim()) ?? [];
  if (table === undefined || assignments === undefined || condition === undefined) return null;
  if (/\b(?:select|from|returning)\b/.test(assignments) || /\breturning\b/.test(condition))
    return null;
  const columns = names.map((_, index) => {
    const parameter = String.raw`\$${index + 1}(?!\d)`;
    const used = new RegExp(String.raw`(?<![\w.])(\w+) (?:=|is not distinct from) ${parameter}`);
    return used.exec(text)?.[1];
  });
  if (columns.includes(undefined)) return null;
  const row = `select 0, ${names.map((_, index) => `$${index + 1}`).join(', ')}`;
  const rowAt = (index: number): string => {
    return shifted(row, index * names.length).replace('select 0', `select ${index}`);
  };
  const typed = `select 0, ${columns.join(', ')} from ${table} where false`;
  const given = `given (nth, ${names.map((_, index) => `p${index + 1}`).join(', ')})`;
  return {
    textFor(rows) {
      const all = [typed, ...times(rows, rowAt)].join(' union all ');
      return (
        `update ${table} set ${fromRow(assignments)} from (${all}) as ${given} ` +
        `where ${fromRow(condition)} returning given.nth`
      );
    },
    changes(rows, returned) {
      const changes = rows.map(() => 0);
      for (const { nth } of returned) changes[Number(nth)] = (changes[Number(nth)] ?? 0) + 1;
      return changes;
    },
  };
}

/** With the columns of `given` for its parameters. */
function fromRow(sql: string): string {
  return sql.replaceAll(/\$(\d+)/g, 'given.p$1');
}

/** The same row, with the parameters after so many others. */
function shifted(row: string, by: number): string {
  return row.replaceAll(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);
}

function times(count: number, make: (index: number) => string): string[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
