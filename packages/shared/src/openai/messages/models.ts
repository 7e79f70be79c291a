/** The list of models in the form of Anthropic's Messages API. */
import * as z from 'zod';
import { ApiError } from '../../errors.js';
import { check } from '../check.js';

/** What is read of a model of `GET /models`. */
export interface ListedModel {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly context_length: number | null;
}

export interface ModelInfo {
  readonly type: 'model';
  readonly id: string;
  readonly display_name: string;
  /** RFC 3339. */
  readonly created_at: string;
  readonly max_input_tokens: number | null;
}

export interface ModelsPage {
  readonly data: readonly ModelInfo[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

export function modelInfo({ id, created, context_length: context }: ListedModel): ModelInfo {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(created * 1_000).toISOString(),
    max_input_tokens: context,
  };
}

/** That API's own limits. */
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

const LIMIT_RULE = `it must be a whole number from 1 to ${MAX_LIMIT}`;

const pageQuery = z.looseObject({
  limit: z
    .string()
    .refine((text) => /^\d{1,4}$/.test(text) && +text >= 1 && +text <= MAX_LIMIT, LIMIT_RULE)
    .optional(),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
});

/**
 * A page of the models, in their order, each id once. `query` holds the texts of `limit`,
 * `after_id` and `before_id`.
 */
export function modelsPage(models: readonly ListedModel[], query: unknown): ModelsPage {
  const asked = check(pageQuery, query, 'query');
  const { limit = String(DEFAULT_LIMIT), after_id: after, before_id: before } = asked;
  const byId = new Map<string, ListedModel>();
  for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model);
  const all = [...byId.values()];
  const backwards = before !== undefined;
  const from = after === undefined ? 0 : positionOf(after, 'after_id', all) + 1;
  const to = backwards ? positionOf(before, 'before_id', all) : all.length;
  const between = all.slice(from, Math.max(from, to));
  const page = backwards ? between.slice(-Number(limit)) : between.slice(0, Number(limit));
  const data = page.map(modelInfo);
  return {
    data,
    has_more: data.length < between.length,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function positionOf(id: string, param: string, models: readonly ListedModel[]): number {
  const position = models.findIndex((model) => model.id === id);
  if (position !== -1) return position;
  const shown = JSON.stringify(id.slice(0, 80));
  const message = `'${param}' is ${shown}: no such model is online. Begin at the first page.`;
  throw new ApiError('invalid_value', message, { param });
}
