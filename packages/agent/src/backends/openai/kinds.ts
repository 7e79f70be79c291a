/** The types of work that OpenAI's own paths serve: films and music have other ones everywhere. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';

export const OPENAI_KINDS: ReadonlySet<ServiceType> = new Set(['llm', 'stt', 'tts', 'image']);
