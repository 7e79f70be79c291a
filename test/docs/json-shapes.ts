/** The tables of `docs/cli` that tell what commands print, and documents held to them. */
import { allTables } from '../support/markdown-table.js';
import type { ProgramName } from '../support/bundled-programs.js';
import { pagesOf } from './cli-pages.js';

/** A field by its path, with its type as the document writes it: `string or null`. */
type Fields = ReadonlyMap<string, string>;

export interface Shape {
  /** The document is an array of such objects. */
  readonly rows: boolean;
  readonly fields: Fields;
}

/** By command, and by what several commands tell: `user list`, `a share`. */
export type Shapes = ReadonlyMap<string, Shape>;

/** The rows of a table, by the name of the described object. */
type Tables = ReadonlyMap<string, { readonly rows: boolean; readonly table: readonly string[][] }>;

/** What the pages of this program say. */
export function readShapes(program: ProgramName): Shapes {
  const tables: Tables = new Map(
    pagesOf(program)
      .flatMap(({ text }) => allTables(text))
      .filter(([headings]) => headings?.[1] === 'Type')
      .flatMap(([[titles = ''] = [], ...table]) =>
        titles.split('; ').map((title) => {
          const name = title.replace(' (rows)', '').replaceAll('`', '');
          return [name, { rows: title.endsWith('(rows)'), table }] as const;
        }),
      ),
  );
  const shapes = [...tables].map(
    ([name, { rows }]) => [name, { rows, fields: new Map(fieldsOf(name, tables)) }] as const,
  );
  return new Map(shapes);
}

type Field = readonly [path: string, type: string];

/** Of objects with their own table. */
function fieldsOf(name: string, tables: Tables): Field[] {
  const { table = [] } = tables.get(name) ?? {};
  return table.flatMap(([cell = '', type = '']): Field[] => {
    const other = /^as `(.+)`$/.exec(cell)?.[1];
    if (other !== undefined) return fieldsOf(other, tables);
    const path = cell.replaceAll('`', '');
    const below = path + (type.startsWith('array of') ? '[]' : '');
    const shared = fieldsOf(sharedIn(type, tables), tables);
    return [[path, type], ...shared.map(([field, its]): Field => [`${below}.${field}`, its])];
  });
}

/** Which of the shared tables a type names: `array of a share`, `an error of it or null`. */
function sharedIn(type: string, tables: Tables): string {
  const names = [...tables.keys()].filter((name) => /^an? /.test(name));
  const named = names.filter((name) => type.includes(name));
  return named.toSorted((one, other) => other.length - one.length)[0] ?? '';
}

/** What was seen of each field of one shape, over all documents. */
export class Sighting {
  readonly #shape: Shape;
  readonly #seen = new Map<string, Set<string>>();
  readonly faults = new Set<string>();

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  add(document: unknown): void {
    const { rows } = this.#shape;
    if (rows !== Array.isArray(document)) this.faults.add(`is ${rows ? 'no' : 'an'} array`);
    for (const one of Array.isArray(document) ? document : [document]) this.#object(one, '');
  }

  /** Fields that no document had, or only ever as null. */
  unseen(): string[] {
    return [...this.#shape.fields.keys()].filter(
      (path) => ![...(this.#seen.get(path) ?? [])].some((kind) => kind !== 'null'),
    );
  }

  #object(value: unknown, prefix: string): void {
    const object = value as Readonly<Record<string, unknown>>;
    for (const [name, field] of Object.entries(object)) this.#field(field, prefix + name);
    for (const [path, type] of this.#shape.fields) {
      const name = path.startsWith(prefix) ? path.slice(prefix.length) : '.';
      if (name.includes('.') || name.includes('[') || type.endsWith('absent')) continue;
      if (!Object.hasOwn(object, name)) this.faults.add(`${path} is absent`);
    }
  }

  #field(value: unknown, path: string): void {
    const { fields } = this.#shape;
    const type = fields.get(path);
    const below = [...fields.keys()].filter((one) => /^(\[\])?\./.test(one.slice(path.length)));
    const nested = below.some((one) => one.startsWith(path));
    this.#seen.set(path, (this.#seen.get(path) ?? new Set()).add(value === null ? 'null' : 'some'));
    if (type === undefined && !nested) this.faults.add(`${path} is not documented`);
    if (type !== undefined && !isOf(value, type)) {
      this.faults.add(`${path} is ${JSON.stringify(value)}, not ${type}`);
    }
    if (!nested || value === null) return;
    if (!Array.isArray(value)) this.#object(value, `${path}.`);
    else for (const one of value) this.#object(one, `${path}[].`);
  }
}

/** Whether the value is of a type as the document writes it. */
function isOf(value: unknown, type: string): boolean {
  return type.split(/, | or /).some((one) => {
    const element = /^array of (.+)$/.exec(one)?.[1];
    if (element !== undefined) {
      return Array.isArray(value) && value.every((each) => isOf(each, element));
    }
    if (one.startsWith('`')) return value === one.replaceAll('`', '');
    return (KINDS[one] ?? isObject)(value);
  });
}

const isInteger = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
/** A time before this one is none: it would be seconds, or nothing. */
const EARLIEST_MS = Date.parse('2020-01-01');

/** Any other type is an object with its own table. */
const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  string: (value) => typeof value === 'string',
  integer: isInteger,
  time: (value) => isInteger(value) && Number(value) > EARLIEST_MS,
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  absent: () => false,
};

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
