/** The tables of `docs/cli.md` that tell what commands print, and documents held to them. */
import { readFileSync } from 'node:fs';
import type { ProgramName } from '../support/program.js';
import { allTables } from '../support/markdown-table.js';

/** A field by its path, with its type as the document writes it: `string or null`. */
type Fields = ReadonlyMap<string, string>;

export interface Shape {
  /** The document is an array of such objects. */
  readonly rows: boolean;
  readonly fields: Fields;
}

/** By command, and by what several commands tell: `user list`, `a share`. */
export type Shapes = ReadonlyMap<string, Shape>;

/** What the half of the document says that is about this program. */
export function readShapes(program: ProgramName): Shapes {
  const text = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  const half = text.split(`\n## ${program}\n`)[1]?.split('\n## ')[0] ?? '';
  const shapes = new Map<string, Shape>();
  for (const [headings = [], ...rows] of allTables(half)) {
    const [title = '', type] = headings;
    if (type !== 'Type') continue;
    const fields = new Map(rows.flatMap((row) => fieldsOf(row, shapes)));
    for (const one of title.split('; ')) {
      const name = one.replace(' (rows)', '').replaceAll('`', '');
      shapes.set(name, { rows: one.endsWith('(rows)'), fields });
    }
  }
  return shapes;
}

function fieldsOf([name = '', type = '']: string[], shapes: Shapes): (readonly [string, string])[] {
  const other = /^as `(.+)`$/.exec(name)?.[1];
  if (other !== undefined) return [...(shapes.get(other)?.fields ?? [])];
  const path = name.replaceAll('`', '');
  const shared = shapes.get(/\ban? ([a-z]+)\b/.exec(type)?.[0] ?? '')?.fields;
  const below = path + (type.startsWith('array of') ? '[]' : '');
  const nested = [...(shared ?? [])].map(([field, its]) => [`${below}.${field}`, its] as const);
  return [[path, type], ...nested];
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

/** Any other type is an object that has a table of its own. */
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
