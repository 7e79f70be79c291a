/**
 * stable-diffusion.cpp's sd-server: OpenAI's and the web UI's paths over one model, which the first
 * calls `sd-cpp-local` and the second by its name. Whoever says nothing of a seed gets 42.
 */
import type { ServerResponse } from 'node:http';
import { picture } from '../pictures.js';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';

export const SD_MODEL = 'rig-sd15';

/** What the server took for one image. */
export interface SdSettings {
  readonly prompt: string;
  readonly seed: number;
  readonly width: number;
}

export class FakeSdServer {
  readonly server: RecordingServer;
  /** What it made, in the order in which it was asked. */
  readonly made: SdSettings[] = [];
  /** Answers requests for images instead. */
  behaviour: Handler | null = null;
  /** Old ones know OpenAI's paths alone. */
  hasWebUi = true;

  constructor(server: RecordingServer) {
    this.server = server;
  }

  handle(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
    const isWebUi = request.path.startsWith('/sdapi/');
    if (isWebUi && !this.hasWebUi) return void response.writeHead(404).end();
    switch (`${request.method} ${request.path}`) {
      case 'GET /':
        return send(response, 200, 'Stable Diffusion Server is running');
      case 'GET /v1/models':
        return send(response, 200, { data: [{ id: 'sd-cpp-local', object: 'model' }] });
      case 'GET /sdcpp/v1/capabilities':
        return send(response, 200, CAPABILITIES);
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
        return void response.writeHead(404).end();
    }
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
