/**
 * stable-diffusion.cpp's sd-server: OpenAI's and the web UI's paths over one model, which the first
 * calls `sd-cpp-local` and the second by its name. A request without a seed gets 42.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { picture } from '../pictures.js';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';

export const SD_MODEL = 'rig-sd15';

/** The parameters of an image. */
export interface SdSettings {
  readonly prompt: string;
  readonly seed: number;
  readonly width: number;
}

export class FakeSdServer {
  readonly server: RecordingServer;
  /** Generated images, in order of the requests. */
  readonly made: SdSettings[] = [];
  /** Answers requests for images in place of the default. */
  behaviour: Handler | null = null;
  /** False: an old version, with OpenAI's paths only. */
  hasWebUi = true;
  /** False: a version from before April 2026. */
  hasJobs = true;
  /** Time that a request computes, even if its client has left. Unit: ms. */
  computesMs = 0;
  /** Requests that the card has computed to their end. */
  computed = 0;
  /** Number of the next polls for jobs that are cut off without an answer. */
  cutsOff = 0;
  /** Fixed answers, status and body, by method and path. */
  readonly answers = new Map<string, readonly [number, object]>();
  readonly jobs = new Map<string, SdJob>();
  #lock: Promise<void> = Promise.resolve();

  constructor(server: RecordingServer) {
    this.server = server;
  }

  handle(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
    const set = this.answers.get(`${request.method} ${request.path}`);
    if (set !== undefined) return send(response, ...set);
    const isWebUi = request.path.startsWith('/sdapi/');
    if (isWebUi && !this.hasWebUi) return void response.writeHead(404).end();
    switch (`${request.method} ${request.path}`) {
      case 'GET /':
        return send(response, 200, 'Stable Diffusion Server is running');
      case 'GET /v1/models':
        return send(response, 200, { data: [{ id: 'sd-cpp-local', object: 'model' }] });
      case 'GET /sdcpp/v1/capabilities':
        return send(response, 200, { ...CAPABILITIES, ...(this.hasJobs && JOB_FEATURES) });
      case 'GET /sdapi/v1/sd-models':
        return send(response, 200, [WEB_UI_MODEL]);
      case 'GET /sdapi/v1/options':
        return send(response, 200, { sd_model_checkpoint: SD_MODEL });
      case 'POST /v1/images/generations':
      case 'POST /v1/images/edits':
        return this.behaviour === null
          ? this.#make(request, response)
          : this.behaviour(request, response);
      default:
        return this.hasJobs && request.path.startsWith('/sdcpp/v1/')
          ? this.#job(request, response)
          : void response.writeHead(404).end();
    }
  }

  /**
   * The jobs; they wait for the same card as all other requests. A job that computes is not
   * stopped.
   */
  #job({ method, path, body }: RecordedRequest, response: ServerResponse): void {
    if (method === 'POST' && path === '/sdcpp/v1/img_gen') {
      const id = `job_${this.jobs.size}`;
      const fields = JSON.parse(body.toString()) as Record<string, unknown>;
      const job: SdJob = { id, fields, status: 'queued', canceledAt: null };
      this.jobs.set(id, job);
      void this.#compute(() => this.#begin(job)).then(() => {
        if (job.status === 'generating') job.status = 'completed';
      });
      return send(response, 202, { id, kind: 'img_gen', status: 'queued' });
    }
    const [, id = '', verb] = /^\/sdcpp\/v1\/jobs\/(\w+)(\/cancel)?$/.exec(path) ?? [];
    const job = this.jobs.get(id);
    if (job === undefined) return send(response, 404, { error: 'job not found' });
    if (verb === undefined && this.cutsOff > 0) {
      this.cutsOff -= 1;
      return void response.destroy();
    }
    if (verb === undefined) return send(response, 200, stateOf(job));
    job.canceledAt = performance.now();
    if (job.status === 'generating') {
      return send(response, 409, { error: 'job is currently generating' });
    }
    if (job.status === 'queued') job.status = 'cancelled';
    return send(response, 200, stateOf(job));
  }

  /** False if the job has been canceled. */
  #begin(job: SdJob): boolean {
    if (job.status !== 'queued') return false;
    job.status = 'generating';
    const { prompt, seed = DEFAULT_SEED, width = 512, batch_count: count } = job.fields;
    for (let i = 0; i < Number(count ?? 1); i++) {
      const settings = { prompt: String(prompt), seed: Number(seed) + i, width: Number(width) };
      this.made.push(settings);
    }
    return true;
  }

  /** Keeps the card busy, for instance with the owner's own picture. */
  occupy(): Promise<void> {
    return this.#compute(() => true);
  }

  #compute(begin: () => boolean): Promise<void> {
    this.#lock = this.#lock.then(() => this.#hold(begin));
    return this.#lock;
  }

  async #hold(begin: () => boolean): Promise<void> {
    if (!begin()) return;
    await pause(this.computesMs);
    this.computed++;
  }

  async #make(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const fields = await fieldsOf(request).catch(() => null);
    if (fields === null) {
      return send(response, 500, { error: 'server_error', message: 'parse error' });
    }
    const { prompt } = fields;
    if (typeof prompt !== 'string' || prompt === '')
      return send(response, 400, { error: 'prompt required' });
    const hidden = HIDDEN.exec(prompt)?.[1] ?? '{}';
    const settings = {
      width: 512,
      seed: DEFAULT_SEED,
      ...(JSON.parse(hidden) as Partial<SdSettings>),
      prompt: prompt.replace(HIDDEN, ''),
    };
    await this.#compute(() => true);
    const length = Number(fields['n'] ?? 1);
    const data = Array.from({ length }, (_, i) => {
      this.made.push({ ...settings, seed: settings.seed + i });
      return { b64_json: picture({ seed: settings.seed + i }).toString('base64') };
    });
    return send(response, 200, { created: 1, data, output_format: 'png' });
  }
}

export async function startFakeSdServer(): Promise<FakeSdServer> {
  const server = await startRecordingServer((request, response) => fake.handle(request, response));
  const fake = new FakeSdServer(server);
  return fake;
}

export interface SdJob {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  status: 'queued' | 'generating' | 'completed' | 'cancelled';
  /** `performance.now()` of the request to cancel it. */
  canceledAt: number | null;
}

function stateOf({ id, status, fields }: SdJob): object {
  const seed = Number(fields['seed'] ?? DEFAULT_SEED);
  const images = Array.from({ length: Number(fields['batch_count'] ?? 1) }, (_, index) => {
    return { index, b64_json: picture({ seed: seed + index }).toString('base64') };
  });
  const error = status === 'cancelled' ? { code: 'cancelled', message: 'job cancelled' } : null;
  const result = status === 'completed' ? { output_format: 'png', images } : null;
  return { id, kind: 'img_gen', status, result, error };
}

const JOB_FEATURES = { features: { cancel_queued: true, cancel_generating: false } };
const DEFAULT_SEED = 42;
const HIDDEN = /<sd_cpp_extra_args>(.*?)<\/sd_cpp_extra_args>/s;

const CAPABILITIES = {
  model: { name: SD_MODEL, stem: SD_MODEL, path: `/home/somebody/${SD_MODEL}.safetensors` },
  current_mode: 'img_gen',
  supported_modes: ['img_gen'],
};

const WEB_UI_MODEL = {
  title: SD_MODEL,
  model_name: SD_MODEL,
  filename: `/home/somebody/${SD_MODEL}.safetensors`,
  hash: '8888888888',
};

async function fieldsOf({ headers, body }: RecordedRequest): Promise<Record<string, unknown>> {
  const type = headers['content-type'] ?? '';
  if (type === 'application/json') return JSON.parse(body.toString()) as Record<string, unknown>;
  const sent = new Response(new Uint8Array(body), { headers: { 'content-type': type } });
  return Object.fromEntries(await sent.formData());
}
