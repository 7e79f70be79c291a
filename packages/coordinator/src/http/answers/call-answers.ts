/** The answers of the kinds of endpoints, in the requested form. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { filesOf } from '@inference-gateway/shared/openai/kinds';
import type { TranslationAsked } from '@inference-gateway/shared/openai/translated-apis';
import { AnswerFiles } from '../../assets/answer-files.js';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { AssetLinks } from '../../assets/asset-links.js';
import type { DurationMeter } from '../../media/duration.js';
import { CALLER_STALLED } from '../../run/work.js';
import type { Call } from '../../run/work.js';
import type { JsonBodies } from '../bodies/body.js';
import type { Context } from '../edge/context.js';
import type { FittedCall } from '../inference/fit-call.js';
import type { LargeBodies } from '../bodies/large-bodies.js';
import { excerptOfCall } from '../inference/read-call.js';
import type { ReadCall } from '../inference/read-call.js';
import type { HttpAnswer } from './answer.js';
import { FileAnswer } from './file-answer.js';
import { FileListAnswer } from './file-list-answer.js';
import type { FileForm } from './file-list-answer.js';
import { JsonAnswer } from './json-answer.js';
import type { MediaParts } from './file-answer.js';
import { StreamAnswer } from './stream-answer.js';
import type { StreamTiming } from './stream-answer.js';
import { renderTranscript } from './transcript.js';
import { TranslatedStream, translateAnswer } from './translated-answer.js';

export interface AnswerParts {
  readonly bodies: JsonBodies;
  readonly large: LargeBodies;
  readonly timing: StreamTiming;
  readonly library: AssetLibrary;
  readonly durations: DurationMeter;
  readonly assetLinks: AssetLinks;
}

export interface Answered {
  readonly ctx: Context;
  readonly work: Call;
  readonly call: ReadCall;
  /** As it was sent to the model that answers. */
  readonly fitted: () => FittedCall;
  /** The member's remaining space for generated files. */
  readonly spaceBytes: number;
  /** Ends the work if its caller does not read. */
  readonly departure: AbortController;
}

/** JSON, or server-sent events if requested; in the form of the caller's API. */
export function textAnswer(answered: Answered, parts: AnswerParts): HttpAnswer {
  const { ctx, work, departure } = answered;
  const asked = translationOf(answered);
  if (work.stream) {
    const form = asked && { form: new TranslatedStream(asked) };
    const { timing } = parts;
    return new StreamAnswer(ctx.res, { timing, ...form, stalled: stalling(departure) });
  }
  const share = parts.bodies.shareOf(ctx);
  if (asked === null) return new JsonAnswer(ctx.res, share);
  const { memberId } = work.caller;
  return new JsonAnswer(ctx.res, share, (document) =>
    translateAnswer(document, { memberId, asked }, parts.large),
  );
}

/** Null if the answer has the form of its endpoint. */
function translationOf({ ctx, work, call }: Answered): TranslationAsked | null {
  if (call.translated === undefined) return null;
  const { api, context } = call.translated;
  const id = work.requestId.replace(/^req_/, '');
  const createdAt = Math.floor(ctx.state.now() / 1000);
  return { api, subject: { id, createdAt, model: work.model, context } };
}

/** One file, or its URL. */
export function fileAnswer(answered: Answered, parts: AnswerParts): HttpAnswer {
  const media = mediaParts(answered, parts);
  const { call, departure } = answered;
  if (call.request.responseFormat === 'url') return new FileListAnswer(media, ['url']);
  return new FileAnswer(media, stalling(departure));
}

export function imagesAnswer(answered: Answered, parts: AnswerParts): HttpAnswer {
  return new FileListAnswer(mediaParts(answered, parts), imageForms(answered.call.request));
}

function stalling(departure: AbortController): () => void {
  return () => departure.abort(CALLER_STALLED);
}

/** OpenAI's models of this name have no `url`, and their callers expect `b64_json` unasked. */
const GPT_IMAGE = /^gpt-image-/;

function imageForms({ model, responseFormat }: ReadCall['request']): readonly FileForm[] {
  if (responseFormat === null && GPT_IMAGE.test(model)) return ['url', 'b64_json'];
  return [responseFormat === 'b64_json' ? 'b64_json' : 'url'];
}

export function transcriptAnswer(
  { ctx, work, call, fitted }: Answered,
  parts: AnswerParts,
): HttpAnswer {
  const [file] = call.files;
  const seconds =
    file === undefined
      ? Promise.resolve(null)
      : parts.durations.seconds(file.path, file.contentType);
  const { memberId } = work.caller;
  return new JsonAnswer(ctx.res, parts.bodies.shareOf(ctx), (answer) =>
    renderTranscript({ ...fitted().transcript, seconds }, (document, facts) =>
      parts.large.renderTranscript(document, memberId, facts),
    )(answer),
  );
}

function mediaParts(
  { ctx, work, call, fitted, spaceBytes }: Answered,
  parts: AnswerParts,
): MediaParts {
  const { library, timing, assetLinks } = parts;
  const { endpoint, requestId, caller } = work;
  // The lifetime begins at the end: a link created now would already be older by then.
  const urlOf = (id: string): string => assetLinks.urlsFor(caller.assets ?? null)(id);
  const { media } = ENDPOINTS[endpoint];
  if (media === null) throw new Error(`${endpoint} is answered without files`);
  const files = new AnswerFiles({
    shelf: library,
    memberId: caller.memberId,
    keyId: caller.keyId,
    requestId,
    endpoint,
    excerpt: excerptOfCall(endpoint, call),
    family: media,
    maxBytes: spaceBytes,
    most: filesOf(endpoint, () => fitted().body),
  });
  return { response: ctx.res, timing, files, library, urlOf, now: ctx.state.now };
}
