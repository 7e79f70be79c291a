/**
 * Tokens of text whose model server does not count them, as `docs/api.md` tells it: a token for
 * each four characters, and for each character of a script that is written without spaces or lies
 * above it (Chinese, Japanese, Korean, emoji), where models need about one for each.
 */

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
