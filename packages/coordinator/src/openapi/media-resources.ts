/** Models, generated files, and the lists of both (specification, section 2). */
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';

export const nextAfter = z.string().optional().meta({
  description: 'Only of a search that has not reached the end: `after` of the next one.',
});

export const model = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().meta({ description: 'Unix seconds at which its provider was registered.' }),
  owned_by: z.string().meta({ description: "The provider's owner, by their public name." }),
  service_type: z.enum(SERVICE_TYPES),
  input_modalities: z.array(z.string()),
  output_modalities: z.array(z.string()),
  supported_features: z.array(z.string()),
  context_length: z.int().nullable(),
  alias_of: z
    .array(z.string())
    .optional()
    .meta({
      description:
        'Only of an alias: the models that it stands for, of those that you may use, in the ' +
        'order in which they are tried. The other fields are those of the first.',
    }),
});

export const modelList = z.object({ object: z.literal('list'), data: z.array(model) });

export const fileUrl = z
  .url()
  .meta({ description: 'Absolute; it takes the key of the member that made the file.' });

/** `url` or `b64_json`; models named `gpt-image-…` return both if none is requested. */
export const imageResponse = z.object({
  created: z.int(),
  data: z.array(
    z.object({
      url: fileUrl.optional(),
      b64_json: z.string().optional(),
      revised_prompt: z.string().optional(),
    }),
  ),
});

export const fileList = z.object({
  created: z.int(),
  data: z.array(z.object({ url: fileUrl })),
});

/** In answers to the owner of a job or file alone. */
export const workNames = {
  excerpt: z
    .string()
    .optional()
    .meta({
      description:
        'The beginning of the last text of its user, in one line of at most 80 letters. It is ' +
        'kept for at most 30 days, unless the member has switched that off.',
    }),
  custom_id: z.string().optional().meta({
    description: 'Of a line of a file of requests, until the batch has ended.',
  }),
  batch_label: z.string().optional().meta({ description: 'Of a batch that has one.' }),
};

export const asset = z.object({
  id: z.string(),
  object: z.literal('asset'),
  url: fileUrl,
  content_type: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  seconds: z.number().nullable().meta({ description: 'How long it plays; null where unknown.' }),
  model: z.string(),
  endpoint: z.string(),
  created: z.int(),
  expires_at: z.int(),
  ...workNames,
});

export const assetList = z.object({
  object: z.literal('list'),
  data: z.array(asset),
  has_more: z.boolean(),
  next_after: nextAfter,
});

export const deletedAsset = z.object({
  id: z.string(),
  object: z.literal('asset'),
  deleted: z.literal(true),
});
