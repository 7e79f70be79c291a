/**
 * The fields of text requests, in every local server's dialect, that determine the amount of work:
 * the source of a share's token cap and of the number of sequences.
 */

/**
 * Names of the token limit of an answer. Every server reads the first. llama-server prefers
 * `n_predict`, negative for none; TabbyAPI also reads `max_length`, text-generation-webui
 * `max_new_tokens`; `num_predict` is in Ollama's `options`; `max_output_tokens` is in OpenAI's
 * newer API.
 */
export const TOKEN_LIMITS = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'max_new_tokens',
  'max_length',
  'n_predict',
  'num_predict',
] as const;

/**
 * Names of the minimum tokens of an answer (vLLM, SGLang, TabbyAPI): a minimum above the limit is
 * refused by some servers, and overrides it in others. `ignore_eos` and the like are not among
 * them: they run up to the limit.
 */
export const TOKEN_FLOORS = ['min_tokens', 'min_new_tokens', 'min_length'] as const;

/** Switches that disable a limit: text-generation-webui then fills the whole context. */
export const TOKEN_EVADERS = ['auto_max_new_tokens'] as const;

/** Names of the number of answers per prompt. llama-server reads the second as the first. */
export const SEQUENCE_COUNTS = ['n', 'n_cmpl', 'num_return_sequences'] as const;

/**
 * Names of the number of candidates of which the best are returned, and vLLM's switch that turns
 * `n` into beams: they use as much of the card as answers.
 */
export const CANDIDATE_COUNTS = ['best_of', 'num_beams', 'beam_width', 'use_beam_search'] as const;

/** Objects in which some servers, and proxies, read the same fields. */
export const OPTION_OBJECTS = ['options', 'parameters', 'sampling_params', 'extra_body'] as const;

/** The fields of a chat from which a chat template makes the prompt. */
export const TEMPLATE_FIELDS = [
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'chat_template_kwargs',
] as const;

/** Every name of a limit or a number above. */
export const TOKEN_FIELDS: readonly string[] = [
  ...TOKEN_LIMITS,
  ...TOKEN_FLOORS,
  ...TOKEN_EVADERS,
  ...SEQUENCE_COUNTS,
  ...CANDIDATE_COUNTS,
  ...OPTION_OBJECTS,
];

/** Answers of a call: its prompts, times the answers per prompt. */
export const MAX_SEQUENCES = 1_024;

type Fields = Readonly<Record<string, unknown>>;

/** The prompts of a field that may contain several, each a string or an array of token ids. */
export function listedPrompts(prompt: unknown): readonly unknown[] {
  if (!Array.isArray(prompt) || prompt.length === 0) return [prompt];
  return typeof prompt[0] === 'number' ? [prompt] : (prompt as unknown[]);
}

/** The number of answers per prompt. */
export function answersEach(fields: Fields): number {
  return SEQUENCE_COUNTS.reduce((most, name) => Math.max(most, countOf(fields[name])), 1);
}

/**
 * The largest token limit of an answer under any name; null if there is none, or if one of them
 * means no limit, such as `n_predict: -1` beside `max_tokens`.
 */
export function limitOf(fields: Fields): number | null {
  const most = mostIn(fields, 0);
  return most >= 1 ? most : null;
}

/**
 * The largest limit in the fields and their option objects; `before` if they have none. NaN if one
 * of them is no number, or below 1: that is no limit, whatever the others say.
 */
function mostIn(fields: Fields, before: number): number {
  let most = before;
  const take = (limit: number): void => {
    most = limit >= 1 ? Math.max(most, limit) : NaN;
  };
  for (const name of TOKEN_LIMITS) if (isNamed(fields[name])) take(Number(fields[name]));
  // In some servers the minimum overrides the limit. A minimum of 0 has no effect.
  for (const name of TOKEN_FLOORS) {
    if (isNamed(fields[name])) take(Math.max(1, Number(fields[name])));
  }
  for (const name of TOKEN_EVADERS) if (isNamed(fields[name]) && fields[name] !== false) take(NaN);
  for (const name of OPTION_OBJECTS) {
    const options = fields[name];
    if (isFields(options)) most = mostIn(options, most);
  }
  return most;
}

function isNamed(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Some servers read `"4"` as 4, and refuse other strings. */
function countOf(value: unknown): number {
  const count = Number(value ?? 1);
  return Number.isNaN(count) ? 1 : Math.trunc(count);
}

// Estimated tokens if the model server does not count them, as in `docs/api.md`: one per four
// characters, and one per character of scripts without spaces and above (Chinese, Japanese, Korean,
// emoji), for which models need about one each.

const CHARACTERS_A_TOKEN = 4;

/** The first character of the scripts with a token per character: CJK radicals. */
const FIRST_WIDE = 0x2e80;

/** Tokens of an image or sound in a prompt: vision models use between 85 and 1,500. */
export const TOKENS_A_MEDIUM = 800;

/** Tokens that a chat template adds to a message. */
const TOKENS_A_MESSAGE = 4;

/** Most values of a body that are read; it was checked to have no more. */
const MAX_VALUES = 3_000_000;

/** Counts text that arrives in pieces. */
export class TextTokens {
  #narrow = 0;
  #wide = 0;

  add(text: string): void {
    for (let i = 0; i < text.length; i++) {
      if (text.charCodeAt(i) < FIRST_WIDE) this.#narrow += 1;
      else this.#wide += 1;
    }
  }

  get tokens(): number {
    return Math.ceil(this.#narrow / CHARACTERS_A_TOKEN) + this.#wide;
  }
}

/** The fields of a request that a model reads. */
const READ = ['messages', 'prompt', 'suffix', 'tools', 'functions'] as const;

/** Estimated tokens of a checked text request. Token ids count as they are. */
export function estimatePromptTokens(body: Readonly<Record<string, unknown>>): number {
  const text = new TextTokens();
  const { messages } = body;
  let tokens = Array.isArray(messages) ? messages.length * TOKENS_A_MESSAGE : 0;
  const left: unknown[] = READ.map((name) => body[name]);
  for (let seen = 0; left.length > 0 && seen < MAX_VALUES; seen++) {
    const value = left.pop();
    if (typeof value === 'number') tokens += 1;
    else if (typeof value === 'string') {
      if (value.startsWith('data:')) tokens += TOKENS_A_MEDIUM;
      else text.add(value);
    } else if (isSound(value)) tokens += TOKENS_A_MEDIUM;
    else if (Array.isArray(value)) for (const item of value as unknown[]) left.push(item);
    else if (typeof value === 'object' && value !== null) left.push(...Object.values(value));
  }
  return tokens + text.tokens;
}

/** `input_audio` of a message: its base64 is no text. */
function isSound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'data' in value && 'format' in value && typeof value.data === 'string';
}
