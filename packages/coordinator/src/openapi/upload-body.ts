/** The form of an upload: its files from the endpoint's row, its fields from their schema. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey, UploadField } from '@inference-gateway/shared/endpoints';
import { contentTypeOf } from '@inference-gateway/shared/media/types';
import { REQUEST_SCHEMAS } from '@inference-gateway/shared/openai/request-schemas';
import { REQUEST_EXAMPLES } from './examples.js';
import type { JsonSchema, RequestBody } from './open-api.js';
import { examplesOf } from './operation.js';
import { toJsonSchemas } from './to-json-schema.js';

/** The specification's own name of it; the brackets may be left away. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  timestamp_granularities: 'timestamp_granularities[]',
};

const FILE = { type: 'string', format: 'binary' } as const;

export function uploadBody(key: EndpointKey): RequestBody {
  const { form = {} } = toJsonSchemas({ form: REQUEST_SCHEMAS[key] }, 'input');
  const { uploads } = ENDPOINTS[key];
  const files = uploads.filter(({ required }) => required).map(({ name }) => name);
  const schema: JsonSchema = {
    ...form,
    properties: {
      ...Object.fromEntries(uploads.map((upload) => [upload.name, fileSchema(upload)])),
      ...Object.fromEntries(Object.entries(form.properties ?? {}).map(renamed)),
    },
    required: [...files, ...(form.required ?? [])],
  };
  const media = { schema, ...examplesOf(REQUEST_EXAMPLES[key]) };
  return { required: true, content: { 'multipart/form-data': media } };
}

function renamed<T>([name, schema]: [string, T]): [string, T] {
  return [LIST_NAMES[name] ?? name, schema];
}

function fileSchema({ family, formats, most }: UploadField): JsonSchema {
  const types = formats.map((format) => contentTypeOf(format, family)).join(', ');
  const description = `Told by its first bytes: ${types}.`;
  if (most === 1) return { ...FILE, description };
  const several = { type: 'array', items: FILE, minItems: 1, maxItems: most } as const;
  return { anyOf: [FILE, several], description: `${description} Several repeat the field.` };
}
