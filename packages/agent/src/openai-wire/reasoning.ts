/**
 * The thinking text has two names in the field, `reasoning_content` (llama-server, SGLang, older
 * vLLM) and `reasoning` (Ollama, LM Studio, newer vLLM). It is sent once: clients that read both
 * would show it twice.
 */
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { JsonObject } from './json.js';

/** What the most clients read. */
const USUAL: ReasoningField = 'reasoning_content';

/** Brings the text of a message or delta under the name that the caller reads. */
export function nameReasoning(message: JsonObject, field: ReasoningField = USUAL): void {
  const other = field === USUAL ? 'reasoning' : USUAL;
  if (typeof message[other] !== 'string') return;
  // Of both, the one that says something; servers that write both write the same.
  if (typeof message[field] !== 'string' || message[field] === '') message[field] = message[other];
  // Not `delete`, which would make the object slow to write out.
  message[other] = undefined;
}
