/** Builds the body of a chat request from the settings. */
import type { ApiRequest } from '../call.js';
import type { Message } from './conversation.js';

/** As typed; empty settings are not sent. */
export interface ChatSettings {
  readonly system: string;
  readonly temperature: string;
  readonly topP: string;
  readonly maxTokens: string;
  readonly frequencyPenalty: string;
  readonly presencePenalty: string;
  /** One stop sequence per line. */
  readonly stop: string;
}

export const DEFAULT_SETTINGS: ChatSettings = {
  system: '',
  temperature: '',
  topP: '',
  maxTokens: '',
  frequencyPenalty: '',
  presencePenalty: '',
  stop: '',
};

/** `isStreamed`: the last event contains the usage, from which the speed is computed. */
export function chatRequest(
  model: string,
  messages: readonly Message[],
  { settings, isStreamed }: { readonly settings: ChatSettings; readonly isStreamed: boolean },
): ApiRequest {
  const body = {
    model,
    messages,
    ...parametersOf(settings),
    ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
  };
  return { endpoint: 'chat', body };
}

function parametersOf(settings: ChatSettings): Readonly<Record<string, unknown>> {
  const numbers = [
    ['temperature', settings.temperature],
    ['top_p', settings.topP],
    ['max_tokens', settings.maxTokens],
    ['frequency_penalty', settings.frequencyPenalty],
    ['presence_penalty', settings.presencePenalty],
  ] as const;
  const set = numbers.filter(([, typed]) => typed.trim() !== '' && Number.isFinite(Number(typed)));
  const stops = settings.stop.split('\n').filter((line) => line !== '');
  return {
    ...Object.fromEntries(set.map(([name, typed]) => [name, Number(typed)])),
    ...(stops.length > 0 && { stop: stops }),
  };
}
