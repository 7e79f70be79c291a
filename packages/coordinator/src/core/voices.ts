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
  /** As asked; `needed` where only some providers have it. */
  | { readonly kind: 'asked'; readonly needed: string | null }
  | { readonly kind: 'fallback'; readonly voice: string }
  | { readonly kind: 'unknown' };

/** `offered` is empty where no provider tells its voices: then any may be asked for. */
export function chooseVoice(asked: string | null, offered: readonly string[]): VoiceChoice {
  const [first] = offered;
  if (asked === null || first === undefined) return { kind: 'asked', needed: null };
  if (offered.includes(asked)) return { kind: 'asked', needed: asked };
  if (isBlend(asked, offered)) return { kind: 'asked', needed: null };
  return OPENAI_VOICES.has(asked) ? { kind: 'fallback', voice: first } : { kind: 'unknown' };
}

/** Kokoro's `af_bella(2)+af_sky(1)`. */
function isBlend(asked: string, offered: readonly string[]): boolean {
  const voices = asked.split('+').map((voice) => voice.replace(/\([\d.]+\)$/, ''));
  return voices.length > 1 && voices.every((voice) => offered.includes(voice));
}
