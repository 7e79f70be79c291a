/**
 * The thinking text has two names in the field; clients know one or the other, so both are sent.
 */
import type { JsonObject } from './json.js';

/**
 * Adds the missing one of `reasoning_content` (llama-server, SGLang, older vLLM) and `reasoning`
 * (Ollama, LM Studio, newer vLLM) to a message or delta.
 */
export function addReasoningTwin(message: JsonObject): void {
  const { reasoning, reasoning_content: content } = message;
  if (typeof reasoning === 'string' && typeof content !== 'string') {
    message['reasoning_content'] = reasoning;
  } else if (typeof content === 'string' && typeof reasoning !== 'string') {
    message['reasoning'] = content;
  }
}
