/** From a request to a call for a provider, driven by the endpoint's row. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { parseForm, parseRequest } from '@inference-gateway/shared/openai/requests';
import type {
  FormFields,
  ParsedRequest,
  RequestLimits,
} from '@inference-gateway/shared/openai/requests';
import type { Translated } from '@inference-gateway/shared/openai/translated-apis';
import type { JsonBodies } from '../bodies/body.js';
import type { Context } from '../edge/context.js';
import type { JudgedRequest, Reading } from '../bodies/judge-body.js';
import type { Form, UploadedFile, Uploads } from '../bodies/upload.js';

/** A checked request and its files. */
export interface ReadCall {
  readonly request: ParsedRequest;
  /** What was read from its messages, if they are no values of the body. */
  readonly reading?: Reading;
  /** The API in which it was written; absent: that of its endpoint. */
  readonly translated?: Translated;
  readonly files: readonly UploadedFile[];
  /** The same call once its file has arrived; absent: it has. */
  readonly whole?: Promise<ReadCall>;
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
      const parse = (fields: FormFields): ParsedRequest => parseForm(endpoint, fields, limits);
      const enough = (fields: FormFields): boolean =>
        isSentEarly(endpoint) && isValid(fields, parse);
      const form = await uploads.read(ctx, ENDPOINTS[endpoint].uploads, enough);
      try {
        return callOfForm(form, parse);
      } catch (error) {
        await form.remove();
        throw error;
      }
    }
  }
}

/** Its answer is a document, which is not sent before the form is complete. */
function isSentEarly(endpoint: EndpointKey): boolean {
  const { media, uploads } = ENDPOINTS[endpoint];
  return media === null && uploads.length === 1;
}

type Parse = (fields: FormFields) => ParsedRequest;

function isValid(fields: FormFields, parse: Parse): boolean {
  try {
    parse(fields);
    return true;
  } catch {
    // The error is the caller's once the form is complete.
    return false;
  }
}

/** Throws an `ApiError` if the form is no valid request. */
function callOfForm(form: Form, parse: Parse): ReadCall {
  // A file that was sent as a text field counts as missing.
  form.requireFiles();
  const call = { request: parse(form.fields), files: form.files, remove: () => form.remove() };
  if (form.whole === null) return call;
  const whole = form.whole.then((complete) => callOfForm(complete, parse));
  whole.catch(() => {});
  return { ...call, whole };
}

/** A request without files. */
export function callOf(judged: JudgedRequest): ReadCall {
  return { ...judged, files: [], remove: () => Promise.resolve() };
}
