/** GPT4All refuses every field that it does not know, and many that it knows. */
import { refusal } from '../../openai-wire/error-document.js';
import { asObject } from '../../openai-wire/json.js';
import type { DocumentAnswer } from '../backend.js';
import type { Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** Its list includes the owner's cloud models; only these names identify them. */
const RENTED = /^ChatGPT-|^\[|\bAPI$|https?:/i;
/** Fields that it accepts; the others are dropped if the answer still fits the request. */
const TAKEN = new Set([
  'model',
  'messages',
  'prompt',
  'n',
  'temperature',
  'top_p',
  'min_p',
  'echo',
]);
/** Its default is 16 tokens. */
const USUAL_MAX_TOKENS = 4_096;

export const GPT4ALL: Dialect = {
  streams: false,
  messages: 'plain',
  outlives: ['chat', 'completion'],
  async list(server) {
    const items = await listItems(server);
    const own = items.filter(({ id }) => server.type === 'llm' && !RENTED.test(id));
    const models = own.filter((item) => fitsType(item, 'llm'));
    // It accepts text parts only; the others are dropped.
    const told = models.map((item) => ({
      ...readListedModel(item, 'llm'),
      inputModalities: ['text'],
    }));
    return { models: told, slots: 1 };
  },
  refuse: ({ body, model }) => {
    const param = WITHOUT_WHICH_IT_IS_ANOTHER_QUESTION.find((field) => isGiven(body[field]));
    return param === undefined ? null : unsupported(param, model.id);
  },
  shape(fields) {
    const kept = Object.entries(fields).filter(([field]) => TAKEN.has(field));
    const { max_tokens: given, max_completion_tokens: newer } = fields;
    return {
      ...Object.fromEntries(kept),
      max_tokens: newer ?? given ?? USUAL_MAX_TOKENS,
    };
  },
};

const WITHOUT_WHICH_IT_IS_ANOTHER_QUESTION = ['stop', 'tools', 'functions', 'response_format'];

/** An empty list, or the default answer format, requests nothing. */
function isGiven(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (asObject(value)?.['type'] === 'text') return false;
  return value !== undefined && value !== null && value !== '';
}

function unsupported(param: string, model: string): DocumentAnswer {
  const message = `'${param}' is not supported by GPT4All, which runs ${model}. Leave it out.`;
  return refusal(400, message, { code: 'unsupported_value', param });
}
