/** A model that makes vectors of texts and ranks documents, as the servers that run such do. */
import { sendJson } from './fake-model-server.js';
import type { Behaviour } from './fake-model-server.js';

export const DIMENSIONS = 4;

interface VectorOptions {
  /** `ignores`: it always answers lists; `refuses`: 400 for base64. Absent: it has both. */
  readonly base64?: 'ignores' | 'refuses';
  /** Inputs that it takes at once. */
  readonly most?: number;
  /** Whether it counts tokens; by default it does: one a word. */
  readonly counts?: false;
  /** Rows in any order, with their index. */
  readonly isShuffled?: true;
}

/** The vector of an input, exact in 32 bits. */
export function vectorOf(input: unknown): number[] {
  const text = String(input);
  return [text.length, text.charCodeAt(0), text.charCodeAt(text.length - 1) / 4, -0.5];
}

export function base64Of(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

/** Answers `/embeddings` and `/rerank`. */
export function vectorModel(options: VectorOptions = {}): Behaviour {
  return (request, response) => {
    if (request.path.endsWith('/rerank')) return rank(request.body, response, options);
    const { input, encoding_format: form } = request.body;
    const isList = Array.isArray(input) && typeof input[0] !== 'number';
    const inputs = isList ? (input as unknown[]) : [input];
    if (options.most !== undefined && inputs.length > options.most) {
      return sendJson(response, 413, { error: { message: 'batch too large' } });
    }
    const isBase64 = form === 'base64';
    if (isBase64 && options.base64 === 'refuses') {
      return sendJson(response, 400, { error: { message: 'encoding_format is unknown' } });
    }
    const writes = isBase64 && options.base64 === undefined ? base64Of : asList;
    const rows = inputs.map((one, index) => {
      return { object: 'embedding', index, embedding: writes(vectorOf(one)) };
    });
    const data = options.isShuffled ? rows.toReversed() : rows;
    const usage = options.counts === false ? undefined : usageOf(inputs);
    return sendJson(response, 200, { object: 'list', data, model: 'its-own-name', usage });
  };
}

type Send = Parameters<typeof sendJson>[0];

/** A document is as relevant as its words are in the query. */
function rank(
  { query, documents }: Readonly<Record<string, unknown>>,
  response: Send,
  { most }: VectorOptions,
): void {
  const texts = documents as readonly string[];
  if (most !== undefined && texts.length > most) {
    return sendJson(response, 413, { error: { message: 'batch too large' } });
  }
  const words = new Set(String(query).toLowerCase().split(' '));
  const results = texts.map((text, index) => {
    const own = text.toLowerCase().split(' ');
    return { index, relevance_score: own.filter((word) => words.has(word)).length / own.length };
  });
  const sorted = results.toSorted((a, b) => b.relevance_score - a.relevance_score);
  return sendJson(response, 200, { results: sorted, usage: usageOf([...texts, query]) });
}

function asList(vector: readonly number[]): readonly number[] {
  return vector;
}

function usageOf(inputs: readonly unknown[]): object {
  const tokens = inputs.reduce((sum: number, one) => sum + String(one).split(' ').length, 0);
  return { prompt_tokens: tokens, total_tokens: tokens };
}
