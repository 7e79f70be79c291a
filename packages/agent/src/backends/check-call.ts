/** What no local server is asked, whichever it is and whatever the coordinator has checked. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import {
  findMisspelledField,
  findMisspelledName,
} from '@inference-gateway/shared/openai/field-names';
import { misspelledName, refusal } from '../openai-wire/error-document.js';
import type { DocumentAnswer, LocalCall } from './backend.js';

/** The refusal of a body that a server in Go would read otherwise than we do; else null. */
export function refuseNames({ endpoint, body }: LocalCall): DocumentAnswer | null {
  const isForm = ENDPOINTS[endpoint].body === 'multipart';
  const field = isForm ? findMisspelledField(Object.keys(body)) : null;
  const found = field ?? findMisspelledName(body);
  return found === null ? null : misspelledName(found);
}

/** The refusal of a body that was not parsed, because it passes a limit (`shared/json-scan.ts`). */
export function tooMuchJson(fault: string): DocumentAnswer {
  const message = `The request body is refused: ${fault}. Send less at once.`;
  return refusal(400, message, { code: 'invalid_json' });
}
