/** What can be read in the result of a text job, which a stranger's server has written. */

export interface Answer {
  readonly text: string;
  readonly reasoning: string | null;
}

/** Of a chat or a legacy completion; none where it is neither. */
export function answersOf(result: unknown): readonly Answer[] {
  const choices = fieldOf(result, 'choices');
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown) => answerOf(choice) ?? []);
}

function answerOf(choice: unknown): Answer | null {
  const message = fieldOf(choice, 'message');
  const text = textOf(fieldOf(message, 'content')) ?? textOf(fieldOf(choice, 'text'));
  const reasoning = textOf(fieldOf(message, 'reasoning_content'));
  return text === null && reasoning === null ? null : { text: text ?? '', reasoning };
}

export function usageOf(
  result: unknown,
): { readonly prompt: number; readonly completion: number } | null {
  const usage = fieldOf(result, 'usage');
  const prompt = fieldOf(usage, 'prompt_tokens');
  const completion = fieldOf(usage, 'completion_tokens');
  return typeof prompt === 'number' && typeof completion === 'number'
    ? { prompt, completion }
    : null;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
