/** Stable Diffusion's web UI by AUTOMATIC1111 and its forks: Forge, reForge, SD.Next. */
import { randomUUID } from 'node:crypto';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import { streamWithoutMetadata } from '../../media/stream-without-metadata.js';
import { readFailure, readImages, imageCount, imageToImage, textToImage } from './request.js';
import type { EditedImage } from './request.js';
import { refusal } from '../../openai-wire/error-document.js';
import { asObject, asText, asObjects } from '../../openai-wire/json.js';
import { advertise } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import type {
  Backend,
  Description,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  MediaPart,
  ServiceConfig,
} from '../backend.js';
import { checkAnswer, probe, serverRoot } from '../probe.js';
import { serveOnly } from '../serving.js';
import { inPieces, readWhole } from '../bytes.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import { readImageSize } from '../../media/images.js';
import { repaintMask } from '../../media/repaint-mask.js';
import { runJob } from './job.js';
import type { Job, WebUi } from './job.js';

export class Automatic1111Backend implements Backend {
  readonly #service: ServiceConfig;
  readonly #ui: WebUi;

  constructor(service: ServiceConfig) {
    this.#service = service;
    const root = serverRoot(service.baseUrl).replace(/\/sdapi$/, '');
    this.#ui = { root, apiKey: service.apiKey };
  }

  async describe(signal: AbortSignal): Promise<Description> {
    const checkpoints = readCheckpoints(await this.#get('/sdapi/v1/sd-models', signal));
    const options = asObject(await this.#get('/sdapi/v1/options', signal));
    const current = asText(options?.['sd_model_checkpoint']);
    const listed = checkpoints.map(({ name, title }) => ({
      servedName: name,
      loaded: current === null ? null : current === title || current === name,
    }));
    const models = advertise(listed, this.#service);
    return { models: models.map((model) => withTitle(model, checkpoints)), slots: 1 };
  }

  call(call: LocalCall): Promise<LocalAnswer> {
    const draw = (create: JobCreator) => (asked: LocalCall) => this.#draw(asked, create);
    return serveOnly({ images: draw(createDrawing), edits: draw(createEdit) }, call);
  }

  async #draw(call: LocalCall, create: JobCreator): Promise<LocalAnswer> {
    const body = withoutFields(call.body, this.#service.dropFields);
    const job = await create({ ...call, body }, `task(gateway-${randomUUID()})`);
    if ('kind' in job) return job;
    const { status, text } = await runJob(this.#ui, job, call.signal);
    if (status >= 400) return readFailure(status, text);
    return { kind: 'media', parts: parts(readImages(text, imageCount(call.body))) };
  }

  async #get(path: string, signal: AbortSignal): Promise<unknown> {
    const { root, apiKey } = this.#ui;
    const url = root + path;
    const answer = await probe(url, { apiKey, keyScheme: 'basic', signal });
    if (answer.status === 404) {
      throw new LocalFailure('LOCAL_ERROR', `${url} answered 404. Start the web UI with --api.`);
    }
    checkAnswer(answer, url);
    return answer.json;
  }
}

/** Creates the job, or says what is wrong with the request. */
type JobCreator = (call: LocalCall, taskId: string) => Promise<Job | DocumentAnswer>;

async function createDrawing(call: LocalCall, taskId: string): Promise<Job> {
  return { path: 'txt2img', taskId, body: JSON.stringify(textToImage(call, taskId)) };
}

async function createEdit(call: LocalCall, taskId: string): Promise<Job | DocumentAnswer> {
  const read = await readEdit(call);
  if (read.kind === 'refused') return read.answer;
  const body = JSON.stringify(imageToImage(call, taskId, read.edited));
  return { path: 'img2img', taskId, body };
}

/** Decodes one image at a time. */
async function* parts(images: readonly string[]): AsyncGenerator<MediaPart, void, void> {
  for (const image of images) {
    const bytes = Buffer.from(image, 'base64');
    const format = detectFormat(bytes);
    const contentType = format === null ? null : contentTypeOf(format, 'image');
    if (format === null || contentType === null) {
      throw new LocalFailure('LOCAL_ERROR', 'the local server answered something but no image.');
    }
    const clean = streamWithoutMetadata(inPieces(bytes), format);
    yield { contentType, revisedPrompt: null, bytes: clean };
  }
}

// The models of Stable Diffusion's web UI, which has two names for each.
interface Checkpoint {
  /** The id for callers: the file's name without its extension. */
  readonly name: string;
  /** The name that the web UI expects: the file's name with its hash. */
  readonly title: string;
}

/** The link's limit for a name. */
const MAX_NAME_CHARACTERS = 256;

/** Reads `/sdapi/v1/sd-models`. Throws a `LocalFailure` if it is not a list. */
function readCheckpoints(json: unknown): Checkpoint[] {
  if (!Array.isArray(json)) {
    throw new LocalFailure('LOCAL_ERROR', '/sdapi/v1/sd-models is no list. Check the base URL.');
  }
  return asObjects(json).flatMap(({ title, model_name: name, name: plain }) => {
    const known = asText(title) ?? asText(name) ?? asText(plain);
    return known === null ? [] : [{ name: asText(name) ?? asText(plain) ?? known, title: known }];
  });
}

type Model = Description['models'][number];

/**
 * The owner may have configured either name; if the title is too long for the link, the name stays.
 */
function withTitle(model: Model, checkpoints: readonly Checkpoint[]): Model {
  const served = model.served_name;
  const found = checkpoints.find(({ name, title }) => name === served || title === served);
  const title = found?.title ?? served;
  return title.length > MAX_NAME_CHARACTERS ? model : { ...model, served_name: title };
}

// An edit's files in the form that Stable Diffusion's web UI takes: whole, in JSON, with the masked
// area white.

type ReadEdit =
  | { readonly kind: 'edit'; readonly edited: EditedImage }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

const MAX_UPLOAD_BYTES = 32 * 1024 * 1024;

async function readEdit({ model, uploads }: LocalCall): Promise<ReadEdit> {
  const images = uploads.filter(({ name }) => name === 'image');
  if (images.length !== 1) {
    return refused('image', `${model.id} edits one image at a time, and ${images.length} came.`);
  }
  const tooLarge = uploads.find(({ bytes }) => bytes > MAX_UPLOAD_BYTES);
  if (tooLarge !== undefined) {
    const { name, bytes } = tooLarge;
    return refused(name, `'${name}' has ${bytes} bytes, and ${MAX_UPLOAD_BYTES} are the most.`);
  }
  const files = new Map<string, Buffer>();
  for (const upload of uploads) {
    files.set(upload.name, await readWhole(upload.read(), MAX_UPLOAD_BYTES));
  }
  return edit(files.get('image') ?? Buffer.alloc(0), files.get('mask'));
}

async function edit(image: Buffer, given: Buffer | undefined): Promise<ReadEdit> {
  const mask = given === undefined ? null : await repaintMask(given);
  if (mask?.kind === 'unusable') {
    const advice = 'Send a PNG that is transparent where the image is to be edited.';
    return refused('mask', `'mask' ${mask.fault}. ${advice}`);
  }
  const edited = {
    image: image.toString('base64'),
    mask: mask?.png.toString('base64') ?? null,
    size: readImageSize(image),
  };
  return { kind: 'edit', edited };
}

function refused(param: string, message: string): ReadEdit {
  return { kind: 'refused', answer: refusal(400, message, { code: 'invalid_value', param }) };
}
