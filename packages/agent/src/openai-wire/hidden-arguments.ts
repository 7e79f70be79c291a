/**
 * sd-server takes settings from inside a prompt, `<sd_cpp_extra_args>{…}</sd_cpp_extra_args>`, and
 * lets them override everything else: nothing that a caller should be able to do.
 */
import type { JsonObject } from './json.js';

const OPEN = '<sd_cpp_extra_args>';
const CLOSE = '</sd_cpp_extra_args>';
const PROMPTS = ['prompt', 'negative_prompt'];

export function withoutHiddenArguments(body: Readonly<JsonObject>): JsonObject {
  const prompts = PROMPTS.flatMap((name): [string, unknown][] => {
    const prompt = body[name];
    return typeof prompt === 'string' && prompt.includes(OPEN) ? [[name, strip(prompt)]] : [];
  });
  return { ...body, ...Object.fromEntries(prompts) };
}

/**
 * In one pass over the prompt, which may be long and hostile. A space takes the place of what goes,
 * so that its two sides cannot join into another mark.
 */
function strip(prompt: string): string {
  const pieces = prompt.split(CLOSE);
  const rest = pieces.pop() ?? '';
  return [...pieces.map(upToOpen), rest].join(' ').replaceAll(OPEN, ' ').trim();
}

function upToOpen(piece: string): string {
  const at = piece.indexOf(OPEN);
  return at === -1 ? piece : piece.slice(0, at);
}

/** Settings of ours, for what the server takes in no other way. */
export function withHiddenArguments(prompt: string, settings: Readonly<JsonObject>): string {
  return `${prompt}<sd_cpp_extra_args>${JSON.stringify(settings)}</sd_cpp_extra_args>`;
}
