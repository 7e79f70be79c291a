/**
 * The fields of text requests, in every local server's dialect, that decide how much is computed:
 * the one table that a share's token cap and the count of sequences are made from.
 */

/**
 * Names of a limit on the tokens of an answer. Every server reads the first. llama-server reads
 * `n_predict` before it, with a negative number for none; TabbyAPI takes `max_length` and
 * text-generation-webui `max_new_tokens` for it; `num_predict` is Ollama's, in its `options`;
 * `max_output_tokens` is that of OpenAI's newer API.
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
 * Names of the fewest tokens of an answer (vLLM, SGLang, TabbyAPI): more than the limit is refused
 * by some servers, and goes before it in others. `ignore_eos` and its like are not among them: they
 * run up to the limit and no further.
 */
export const TOKEN_FLOORS = ['min_tokens', 'min_new_tokens', 'min_length'] as const;

/** Switches that put a limit out of force: text-generation-webui then fills the whole context. */
export const TOKEN_EVADERS = ['auto_max_new_tokens'] as const;

/** Names of a number of answers to one prompt. llama-server takes the second for the first. */
export const SEQUENCE_COUNTS = ['n', 'n_cmpl', 'num_return_sequences'] as const;

/**
 * Names of a number of candidates of which the best are answered, and the switch of vLLM that makes
 * beams of `n`: they take as much of the card as answers do.
 */
export const CANDIDATE_COUNTS = ['best_of', 'num_beams', 'beam_width', 'use_beam_search'] as const;

/** Objects in which some servers, and proxies before them, look for the same fields. */
export const OPTION_OBJECTS = ['options', 'parameters', 'sampling_params', 'extra_body'] as const;

/** Every name above. */
export const TOKEN_FIELDS: readonly string[] = [
  ...TOKEN_LIMITS,
  ...TOKEN_FLOORS,
  ...TOKEN_EVADERS,
  ...SEQUENCE_COUNTS,
  ...CANDIDATE_COUNTS,
  ...OPTION_OBJECTS,
];

/** Answers of one call together: its prompts, times the answers to each. */
export const MAX_SEQUENCES = 1_024;

type Fields = Readonly<Record<string, unknown>>;

/** The prompts of a field that may hold several, each a text or a list of token ids. */
export function listedPrompts(prompt: unknown): readonly unknown[] {
  if (!Array.isArray(prompt) || prompt.length === 0) return [prompt];
  return typeof prompt[0] === 'number' ? [prompt] : (prompt as unknown[]);
}

/** How many answers each prompt gets. */
export function answersEach(fields: Fields): number {
  return Math.max(1, ...SEQUENCE_COUNTS.map((name) => countOf(fields[name])));
}

/**
 * The most tokens of one answer, by whichever name a server may read; null if none is told, or
 * where one of them stands for no limit, as `n_predict: -1` does beside any `max_tokens`.
 */
export function limitOf(fields: Fields): number | null {
  const told = [...limitsIn(fields)];
  const isNone = told.some((limit) => !(limit >= 1));
  return isNone || told.length === 0 ? null : Math.max(...told);
}

/** Of the fields and the objects of options in them. What is no number, or below 1, is no limit. */
function* limitsIn(fields: Fields): Generator<number> {
  const named = (name: string): boolean => (fields[name] ?? null) !== null;
  for (const name of TOKEN_LIMITS.filter(named)) yield Number(fields[name]);
  // The fewest tokens go before the limit in some servers. None at all asks for nothing.
  for (const name of TOKEN_FLOORS.filter(named)) yield Math.max(1, Number(fields[name]));
  for (const name of TOKEN_EVADERS.filter(named)) if (fields[name] !== false) yield NaN;
  for (const name of OPTION_OBJECTS) {
    const options = fields[name];
    if (isFields(options)) yield* limitsIn(options);
  }
}

export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Some servers read `"4"` as 4. What is no number at all they refuse. */
function countOf(value: unknown): number {
  const count = Number(value ?? 1);
  return Number.isNaN(count) ? 1 : Math.trunc(count);
}

// Tokens of text whose model server does not count them, as `docs/api.md` tells it: a token for
// each four characters, and for each character of a script that is written without spaces or lies
// above it (Chinese, Japanese, Korean, emoji), where models need about one for each.

const CHARACTERS_A_TOKEN = 4;

/** The first character of the scripts that count one by one: CJK radicals. */
const FIRST_WIDE = 0x2e80;

/** An image or a sound of a prompt: between the 85 and the 1,500 that vision models take. */
export const TOKENS_A_MEDIUM = 800;

/** What a chat template writes round a message. */
const TOKENS_A_MESSAGE = 4;

/** Values of a body that are looked at; it was checked to hold no more. */
const MAX_VALUES = 3_000_000;

/** Counts text as it comes in pieces. */
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

/** Of a checked text request. Token ids are counted as they are. */
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
