/** OpenAI's Responses API, served by chat completions. */
import type { Translation } from '../translation.js';
import { toAnswer } from './answer.js';
import { openEvents } from './events.js';
import { toChat } from './request.js';

export { pendingResponse } from './answer.js';
export type { PendingStatus } from './answer.js';

export const RESPONSES: Translation = { toChat, toAnswer, openEvents };
