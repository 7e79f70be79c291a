/** From a request to a call for a provider, driven by the endpoint's row. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { requestExcerpt } from '@inference-gateway/shared/openai/excerpt';
import { parseForm, parseRequest } from '@inference-gateway/shared/openai/requests';
import type { ParsedRequest, RequestLimits } from '@inference-gateway/shared/openai/requests';
import type { Translated } from '@inference-gateway/shared/openai/translated-apis';
import type { JsonBodies } from '../bodies/body.js';
import type { Context } from '../edge/context.js';
import type { JudgedRequest, Reading } from '../bodies/judge-body.js';
import type { UploadedFile, Uploads } from '../bodies/upload.js';

/** A checked request and its files. */
export interface ReadCall {
  readonly request: ParsedRequest;
  /** What was read from its messages, if they are no values of the body. */
  readonly reading?: Reading;
  /** The API in which it was written; absent: that of its endpoint. */
  readonly translated?: Translated;
  readonly files: readonly UploadedFile[];
  /** Removes the files. */
  remove(): Promise<void>;
}

export interface ReadingParts {
  readonly bodies: JsonBodies;
  readonly uploads: Uploads;
  readonly limits: RequestLimits;
}

/** Throws an `ApiError` after removing the request's files. */
export async function readCall(
  ctx: Context,
  endpoint: EndpointKey,
  { bodies, uploads, limits }: ReadingParts,
): Promise<ReadCall> {
  switch (ENDPOINTS[endpoint].body) {
    case 'json':
      return callOf((await bodies.readRequest(ctx, { endpoint, api: null, limits })).take());
    case 'query':
      return callOf({ request: parseRequest(endpoint, ctx.query, limits) });
    case 'multipart': {
      const form = await uploads.read(ctx, ENDPOINTS[endpoint].uploads);
      try {
        // A file that was sent as a text field counts as missing.
        form.requireFiles();
        const request = parseForm(endpoint, form.fields, limits);
        return { request, files: form.files, remove: () => form.remove() };
      } catch (error) {
        await form.remove();
        throw error;
      }
    }
  }
}

/** By which its owner finds its job or its files again. */
export function excerptOfCall(
  endpoint: EndpointKey,
  { request, reading }: Pick<ReadCall, 'request' | 'reading'>,
): string | null {
  return reading === undefined ? requestExcerpt(endpoint, request.body) : reading.excerpt;
}

/** A request without files. */
export function callOf(judged: JudgedRequest): ReadCall {
  return { ...judged, files: [], remove: () => Promise.resolve() };
}
