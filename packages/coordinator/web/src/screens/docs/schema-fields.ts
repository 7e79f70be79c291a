/** JSON schemas as rows of a table: one per field, including nested fields. */
import { plural } from '../../ui/text/format.js';
import type { OpenApiDocument } from './open-api.js';

/** The keywords that the page shows; the document itself has the others. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface SchemaField {
  /** `messages[].role` */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  /** Its description, and its limits. */
  readonly notes: readonly string[];
}

/** Deeper fields are shown only in the document itself. */
const MAX_DEPTH = 3;

export function fieldsOf(document: OpenApiDocument, schema: object): readonly SchemaField[] {
  return new SchemaReader(document).fields(asSchema(schema), '', MAX_DEPTH);
}

/** The type of a parameter, which is a single field. */
export function typeOf(document: OpenApiDocument, schema: object): string {
  return new SchemaReader(document).typeText(asSchema(schema));
}

export function boundsOf(schema: object): readonly string[] {
  return notesOf(asSchema(schema));
}

/** Zod's type for a schema is looser than the schemas of the document. */
function asSchema(schema: object): Schema {
  return schema;
}

class SchemaReader {
  readonly #schemas: Readonly<Record<string, object>>;

  constructor({ components }: OpenApiDocument) {
    this.#schemas = components.schemas;
  }

  fields(schema: Schema, before: string, depth: number): readonly SchemaField[] {
    const one = this.#resolve(schema);
    const alternatives = [...(one.allOf ?? []), ...(one.anyOf ?? []), ...(one.oneOf ?? [])];
    if (one.properties === undefined) {
      const found = alternatives.flatMap((other) => this.fields(other, before, depth));
      return found.filter(({ name }, index) => found.findIndex((f) => f.name === name) === index);
    }
    const required = new Set(one.required);
    return Object.entries(one.properties).flatMap(([name, field]) => {
      const whole = `${before}${name}`;
      const row = {
        name: whole,
        type: this.typeText(field),
        isRequired: required.has(name),
        notes: notesOf(this.#whole(field)),
      };
      return [row, ...this.#inside(field, whole, depth - 1)];
    });
  }

  typeText(schema: Schema): string {
    const one = this.#whole(schema);
    if (one.const !== undefined) return JSON.stringify(one.const);
    if (one.enum !== undefined) return one.enum.map((each) => JSON.stringify(each)).join(' or ');
    const alternatives = one.anyOf ?? one.oneOf;
    if (alternatives !== undefined) {
      return [...new Set(alternatives.map((each) => this.typeText(each)))].join(' or ');
    }
    if (one.type === 'array') return `array of ${this.typeText(one.items ?? {})}`;
    if (one.type === undefined) return 'anything';
    return typeof one.type === 'string' ? one.type : one.type.join(' or ');
  }

  #inside(schema: Schema, name: string, depth: number): readonly SchemaField[] {
    if (depth === 0) return [];
    const one = this.#whole(schema);
    if (one.type === 'array') return this.#inside(one.items ?? {}, `${name}[]`, depth);
    return this.fields(one, `${name}.`, depth);
  }

  /** Resolves references and removes null, which may leave another reference. */
  #whole(schema: Schema): Schema {
    return this.#resolve(withoutNull(this.#resolve(schema)));
  }

  #resolve(schema: Schema): Schema {
    if (schema.$ref === undefined) return schema;
    const { $ref, ...beside } = schema;
    const named = this.#schemas[$ref.slice($ref.lastIndexOf('/') + 1)];
    return { ...(named === undefined ? {} : asSchema(named)), ...beside };
  }
}

/** Null means absent: a nullable field has the type without null. */
function withoutNull(schema: Schema): Schema {
  const { type, anyOf } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    return { ...schema, type: types.length === 1 ? String(types[0]) : types };
  }
  const others = anyOf?.filter((one) => one.type !== 'null');
  if (anyOf === undefined || others === undefined || others.length === anyOf.length) return schema;
  const [only] = others;
  const { anyOf: _, ...rest } = schema;
  return others.length === 1 && only !== undefined
    ? { ...only, ...rest }
    : { ...rest, anyOf: others };
}

function notesOf(schema: Schema): readonly string[] {
  const { description, minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    description,
    schema.format === undefined ? undefined : `Format ${schema.format}.`,
    rangeText(minimum, maximum, ''),
    rangeText(minLength, maxLength, 'character'),
    rangeText(minItems, maxItems, 'item'),
    schema.default === undefined ? undefined : `Default ${JSON.stringify(schema.default)}.`,
  ].filter((note) => note !== undefined);
}

/** Zod limits every integer to the safe integers of a double; these limits are not shown. */
function rangeText(least: number | undefined, most: number | undefined, unit: string) {
  const low = least === undefined || least === Number.MIN_SAFE_INTEGER ? null : least;
  const high = most === undefined || most === Number.MAX_SAFE_INTEGER ? null : most;
  const counted = (count: number): string => (unit === '' ? String(count) : plural(count, unit));
  if (low === null && high === null) return undefined;
  if (high === null) return low === null ? undefined : `At least ${counted(low)}.`;
  return low === null ? `At most ${counted(high)}.` : `${low} to ${counted(high)}.`;
}
