/** Which voice speaks: the one asked for, or a stand-in for one of OpenAI's own. */

/** What stock clients send without being asked; the AI SDK always sends `alloy`. */
const OPENAI_VOICES: ReadonlySet<string> = new Set([
  'alloy',
  'ash',
  'ballad',
  'cedar',
  'coral',
  'echo',
  'fable',
  'marin',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]);

export type VoiceChoice =
  /** As asked; `needed` are the voices that a provider must have for it. */
  | { readonly kind: 'asked'; readonly needed: readonly string[] }
  | { readonly kind: 'fallback'; readonly voice: string }
  | { readonly kind: 'unknown' };

/** `offered` is empty where no provider tells its voices: then any may be asked for. */
export function chooseVoice(asked: string | null, offered: readonly string[]): VoiceChoice {
  const [first] = offered;
  if (asked === null || first === undefined) return { kind: 'asked', needed: [] };
  const needed = offered.includes(asked) ? [asked] : blended(asked);
  if (needed.every((voice) => offered.includes(voice))) return { kind: 'asked', needed };
  return OPENAI_VOICES.has(asked) ? { kind: 'fallback', voice: first } : { kind: 'unknown' };
}

/** The voices of Kokoro's `af_bella(2)+af_sky(1)`. */
function blended(asked: string): string[] {
  return asked.split('+').map((voice) => voice.replace(/\([\d.]+\)$/, ''));
}
