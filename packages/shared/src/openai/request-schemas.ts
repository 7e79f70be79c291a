/** What each endpoint's request is checked against, for whoever describes it. */
import type * as z from 'zod';
import type { EndpointKey } from '../endpoints.js';
import {
  editForm,
  imageRequest,
  musicRequest,
  speechRequest,
  transcriptionForm,
  videoRequest,
  voiceForm,
  voicesQuery,
} from './media-requests.js';
import { chatRequest, completionRequest } from './text-requests.js';

/** The text fields; the files of a form are in the endpoint's row. */
export const REQUEST_SCHEMAS = {
  chat: chatRequest,
  completions: completionRequest,
  transcriptions: transcriptionForm,
  speech: speechRequest,
  voices: voicesQuery,
  images: imageRequest,
  edits: editForm,
  videos: videoRequest,
  music: musicRequest,
  voice: voiceForm,
} as const satisfies Record<EndpointKey, z.ZodType>;
