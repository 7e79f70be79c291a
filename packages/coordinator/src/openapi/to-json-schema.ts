/** zod schemas as the JSON schemas of an OpenAPI document, each under its name. */
import { LIST_ITEMS } from '@inference-gateway/shared/openai/check';
import * as z from 'zod';
import type { JsonSchema, Reference } from './open-api.js';

type Named = Readonly<Record<string, z.ZodType>>;
type Direction = 'input' | 'output';

const PREFIX = '#/components/schemas/';

export function toReference(name: string): Reference {
  return { $ref: `${PREFIX}${name}` };
}

/**
 * `input` describes requests, `output` answers, in which objects that are not loose have no further
 * fields. Named schemas refer to each other.
 */
export function toJsonSchemas(named: Named, io: Direction): Record<string, JsonSchema> {
  const registry = z.registry<{ id?: string | undefined }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => `${PREFIX}${id}`,
    override: ({ zodSchema, jsonSchema }) => {
      fillItem(zodSchema, jsonSchema, io);
      tidy(jsonSchema);
    },
  });
  const entries = Object.entries(schemas).map(([name, schema]) => {
    const { $schema: _dialect, $id: _id, ...rest } = schema;
    return [name, rest] as const;
  });
  return Object.fromEntries(entries);
}

/** Checked lists contain a placeholder for their items. */
function fillItem(schema: z.core.$ZodType, json: JsonSchema, io: Direction): void {
  const item = LIST_ITEMS.get(schema);
  if (item !== undefined) Object.assign(json, toJsonSchemas({ item }, io)['item']);
}

/** Removes redundant parts: the range of safe integers, the pattern of a format. */
function tidy(json: JsonSchema): void {
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.format !== undefined) delete json.pattern;
  if (json.properties !== undefined && Object.keys(json.properties).length === 0) {
    delete json.properties;
  }
}
