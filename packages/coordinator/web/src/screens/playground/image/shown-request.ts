/** The request as the code drawer shows it: with the names of its files only. */
import { asJob } from '../call.js';
import type { ApiRequest } from '../call.js';
import { generationRequest, imageBody } from './image-state.js';
import type { Images } from './image-state.js';
import { isPainted } from './mask.js';

export function shownRequest(state: Images): ApiRequest {
  const { mode, isAsync, mask, source } = state;
  if (mode === 'generate') {
    const request = generationRequest(state);
    return isAsync ? asJob(request) : request;
  }
  const content = new Blob();
  const picture = { field: 'image', name: source?.name ?? 'picture.png', content };
  const masks = isPainted(mask) ? [{ field: 'mask', name: 'mask.png', content }] : [];
  return { endpoint: 'edits', body: imageBody(state), files: [picture, ...masks] };
}
