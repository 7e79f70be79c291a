/** Anthropic's Messages API, served as chat completions. */
import type { Translation } from '../translation.js';
import { toAnswer } from './answer.js';
import { openEvents } from './events.js';
import { toChat } from './request.js';

export const MESSAGES: Translation = { toChat, toAnswer, openEvents };
