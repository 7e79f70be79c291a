/** The APIs of text models that the gateway serves as chat completions. */
import { API_ROUTES } from '../endpoints.js';
import type { ApiName, EndpointKey } from '../endpoints.js';
import { ApiError } from '../errors.js';
import { MESSAGES } from './messages/translation.js';
import { parseRequest } from './requests.js';
import type { ParsedRequest, RequestLimits } from './requests.js';
import { RESPONSES } from './responses/translation.js';
import type { AnswerSubject, Translation, TranslationContext } from './translation.js';

interface TranslatedApi {
  /** Below `{base_url}`. */
  readonly path: string;
  /** The endpoint that serves it. */
  readonly endpoint: EndpointKey;
  readonly translation: Translation;
  /** The field that makes a request a job besides `async`; null if there is none. */
  readonly backgroundField: string | null;
  /** The endpoint that counts the tokens of its prompts; null if it has no route for this. */
  readonly counting: EndpointKey | null;
}

export const TRANSLATED_APIS = {
  responses: {
    ...API_ROUTES.responses,
    translation: RESPONSES,
    backgroundField: 'background',
    counting: null,
  },
  messages: {
    ...API_ROUTES.messages,
    translation: MESSAGES,
    backgroundField: null,
    counting: 'token_counts',
  },
} as const satisfies Record<ApiName, TranslatedApi>;

export type { ApiName };

export const API_NAMES = Object.keys(TRANSLATED_APIS) as [ApiName, ...ApiName[]];

/** The API of a request, and what its answer needs of it. */
export interface Translated {
  readonly api: ApiName;
  readonly context: TranslationContext;
  /** Names of the tools that were left out. */
  readonly ignoredTools: readonly string[];
  /** Its job is fetched as an answer of its API. */
  readonly isBackground: boolean;
}

/** A checked request for the endpoint that serves it. */
export interface TranslatedRequest {
  readonly request: ParsedRequest;
  readonly translated: Translated;
}

/** How an answer of the endpoint is translated. */
export interface TranslationAsked {
  readonly api: ApiName;
  readonly subject: AnswerSubject;
}

/** Whether the body asks for a job in the words of its API. */
export function isBackground(api: ApiName, body: unknown): boolean {
  const { backgroundField: field } = TRANSLATED_APIS[api];
  if (field === null || typeof body !== 'object' || body === null) return false;
  return field in body && (body as Record<string, unknown>)[field] === true;
}

/** Checks a JSON body of this API; throws an `ApiError` that names the field. */
export function parseTranslated(
  api: ApiName,
  value: unknown,
  limits: RequestLimits,
): TranslatedRequest {
  const { endpoint, translation } = TRANSLATED_APIS[api];
  const { chat, context, ignoredTools } = translation.toChat(value);
  const parsed = parseRequest(endpoint, chat, limits);
  const inBackground = isBackground(api, value);
  if (inBackground && parsed.stream) throw streamedBackground();
  const request = { ...parsed, async: parsed.async || inBackground };
  return { request, translated: { api, context, ignoredTools, isBackground: inBackground } };
}

function streamedBackground(): ApiError {
  const message =
    "'stream' is true beside 'background'. Leave one of them away: an answer in the background " +
    'is fetched when it is complete.';
  return new ApiError('unsupported_value', message, { param: 'stream' });
}
