/**
 * ComfyUI: it checks and queues graphs and runs one at a time. Its history shows a job only after
 * the job has ended, and a job goes on when its caller leaves.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { picture } from '../pictures.js';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';
import { tone } from '../sound.js';
import { isOutput, refusalOf } from './comfyui-nodes.js';
import type { Graph } from './comfyui-nodes.js';

export interface FakeComfyUiOptions {
  /** How long a job takes unless it is interrupted. */
  readonly jobMs?: number;
  /**
   * Older versions choose the ids of jobs themselves, and interrupt the running job, whichever it
   * is.
   */
  readonly isOld?: boolean;
}

export const COMFY_CHECKPOINTS = ['v1-5-pruned.safetensors', 'xl/juggernaut.safetensors'];
/** The workflow is in the file, beside the film, as ComfyUI writes it. */
const MP4 = Buffer.from(
  ['\0\0\0\x10ftypmp42\0\0\0\0', '\0\0\0\x17udtasecret-workflow', '\0\0\0\x0cmdatfilm'].join(''),
  'latin1',
);

export interface ComfyJob {
  readonly id: string;
  readonly clientId: unknown;
  readonly graph: Graph;
}

type Message = readonly [name: string, facts: object];

export class FakeComfyUi {
  readonly server: RecordingServer;
  /** In the order in which they began. */
  readonly jobs: ComfyJob[] = [];
  readonly interrupted: string[] = [];
  readonly deleted: string[] = [];
  /** By the names that graphs use for them. */
  readonly uploads = new Map<string, Buffer>();
  readonly history = new Map<string, object>();
  readonly pending: ComfyJob[] = [];
  running: ComfyJob | null = null;
  /** Answers uploads and submissions in place of the default. */
  behaviour: Handler | null = null;
  jobMs: number;
  /** The Python error with which the next jobs fail. */
  failure: string | null = null;
  /** Number of polls for results that get no answer from now on. */
  brokenLooks = 0;
  /** Whether jobs are queued but the connection is cut before the answer. */
  losesAnswers = false;
  /** Answers every request in place of the default. */
  override: Handler | null = null;
  readonly #isOld: boolean;
  readonly #files = new Map<string, Buffer>();
  #stop = false;
  #end = false;

  constructor(server: RecordingServer, { jobMs = 0, isOld = false }: FakeComfyUiOptions) {
    this.server = server;
    this.jobMs = jobMs;
    this.#isOld = isOld;
  }

  /** A job that the owner starts on ComfyUI's page. */
  startOwnersJob(): string {
    const id = `owner-${randomUUID()}`;
    this.#enqueue({ id, clientId: 'page', graph: {} });
    return id;
  }

  /** The owner's click on interrupt. */
  interruptFromPage(): void {
    this.#interrupt({});
  }

  /** Makes the running job end with its result. */
  endNow(): void {
    this.#end = true;
  }

  handle(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
    if (this.override !== null) return this.override(request, response);
    const { origin, host } = request.headers;
    // Without this check, a page of any site could send graphs to 127.0.0.1.
    if (origin !== undefined && new URL(origin).host !== host) {
      return void response.writeHead(403).end();
    }
    const path = request.path.replace(/^\/api(?=\/)/, '');
    if (request.method === 'GET') return this.#get(path, request, response);
    const isWork = path === '/prompt' || path === '/upload/image';
    if (isWork && this.behaviour !== null) return this.behaviour(request, response);
    return this.#post(path, request, response);
  }

  #get(path: string, { query }: RecordedRequest, response: ServerResponse): void {
    if (path.startsWith('/history/') && this.brokenLooks > 0) {
      this.brokenLooks -= 1;
      return void response.destroy();
    }
    if (path.startsWith('/history/')) {
      const id = path.slice('/history/'.length);
      const entry = this.history.get(id);
      return send(response, 200, entry === undefined ? {} : { [id]: entry });
    }
    switch (path) {
      case '/system_stats':
        return send(response, 200, STATS);
      case '/models/checkpoints':
        return send(response, 200, COMFY_CHECKPOINTS);
      case '/queue':
        return send(response, 200, this.#queue());
      case '/prompt':
        return send(response, 200, { exec_info: { queue_remaining: this.pending.length } });
      case '/view':
        return this.#view(query, response);
      default:
        return void response.writeHead(404).end('404: Not Found');
    }
  }

  async #post(path: string, request: RecordedRequest, response: ServerResponse): Promise<void> {
    switch (path) {
      case '/prompt':
        return this.#submit(JSON.parse(request.body.toString()) as Submission, response);
      case '/upload/image':
        return this.#upload(request, response);
      case '/queue':
        this.#delete((JSON.parse(request.body.toString()) as { delete: string[] }).delete);
        return void response.end();
      case '/interrupt':
        this.#interrupt(JSON.parse(request.body.toString() || '{}') as { prompt_id?: string });
        return void response.end();
      case '/history':
        for (const id of (JSON.parse(request.body.toString()) as { delete: string[] }).delete) {
          this.history.delete(id);
        }
        return void response.end();
      default:
        return void response.writeHead(405).end('405: Method Not Allowed');
    }
  }

  #submit({ prompt, prompt_id: asked, client_id: clientId }: Submission, response: ServerResponse) {
    const files = { checkpoints: COMFY_CHECKPOINTS, uploads: this.uploads };
    const refusal = refusalOf(prompt, files);
    if (refusal !== null) return send(response, 400, refusal);
    const id = this.#isOld || asked === undefined ? randomUUID() : asked;
    this.#enqueue({ id, clientId, graph: prompt });
    if (this.losesAnswers) return void response.destroy();
    return send(response, 200, { prompt_id: id, number: this.jobs.length, node_errors: {} });
  }

  async #upload(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    const form = await new Response(new Uint8Array(request.body), { headers }).formData();
    const image = form.get('image');
    if (!(image instanceof File)) return void response.writeHead(400).end();
    const asked = form.get('type');
    const type = typeof asked === 'string' ? asked : 'input';
    const name = type === 'input' ? image.name : `${image.name} [${type}]`;
    this.uploads.set(name, Buffer.from(await image.arrayBuffer()));
    return send(response, 200, { name: image.name, subfolder: '', type });
  }

  #enqueue(job: ComfyJob): void {
    this.pending.push(job);
    if (this.running === null) void this.#work();
  }

  async #work(): Promise<void> {
    for (let job = this.pending.shift(); job !== undefined; job = this.pending.shift()) {
      this.running = job;
      this.#stop = false;
      this.#end = false;
      this.jobs.push(job);
      const end = performance.now() + this.jobMs;
      while (performance.now() < end && !this.#stop && !this.#end) await pause(STEP_MS);
      this.history.set(job.id, this.#result(job));
      this.running = null;
    }
  }

  #result({ id, graph }: ComfyJob): object {
    const about = { prompt_id: id, node_id: '3', node_type: 'KSampler' };
    if (this.#stop) return failed([['execution_interrupted', about]]);
    if (this.failure !== null) {
      const error = { exception_message: this.failure, exception_type: 'RuntimeError' };
      return failed([['execution_error', { ...about, ...error, traceback: [] }]]);
    }
    const outputs = Object.entries(graph).filter(([, node]) => isOutput(node));
    return {
      outputs: Object.fromEntries(outputs.map(([node]) => [node, this.#save(graph, node)])),
      status: { status_str: 'success', completed: true, messages: [['execution_success', about]] },
    };
  }

  #save(graph: Graph, node: string): object {
    switch (graph[node]?.class_type) {
      case 'SaveAudioMP3':
        return { audio: [this.#file('wav', tone(0.5), { subfolder: 'audio' })] };
      case 'SaveVideo':
        return { images: [this.#file('mp4', MP4, { subfolder: 'video' })], animated: [true] };
      case 'VHS_VideoCombine':
        return { gifs: [{ ...this.#file('mp4', MP4), format: 'video/h264-mp4' }] };
      case 'PreviewImage':
        return {
          images: this.#draw(graph).map((image) => this.#file('png', image, { type: 'temp' })),
        };
      default:
        return { images: this.#draw(graph).map((image) => this.#file('png', image)) };
    }
  }

  /** One picture for each of the batch; the same graph always makes the same pictures. */
  #draw(graph: Graph): Buffer[] {
    const inputs = Object.assign({}, ...Object.values(graph).map((node) => node.inputs)) as Inputs;
    const length = Number(inputs.batch_size ?? 1);
    return Array.from({ length }, (_, i) => picture({ seed: Number(inputs.seed ?? 0) + i }));
  }

  #file(ending: string, bytes: Buffer, { type = 'output', subfolder = '' }: Folder = {}): object {
    const filename = `ComfyUI_${String(this.#files.size + 1).padStart(5, '0')}_.${ending}`;
    this.#files.set(`${type}/${subfolder}/${filename}`, bytes);
    return { filename, subfolder, type };
  }

  #view(query: URLSearchParams, response: ServerResponse): void {
    const { filename = '', subfolder = '', type = 'output' } = Object.fromEntries(query);
    const file = this.#files.get(`${type}/${subfolder}/${filename}`);
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    return void response.end(file);
  }

  #queue(): object {
    const running = this.running === null ? [] : [rowOf(this.running)];
    return { queue_running: running, queue_pending: this.pending.map(rowOf) };
  }

  #delete(ids: readonly string[]): void {
    for (const id of ids) {
      const at = this.pending.findIndex((job) => job.id === id);
      if (at === -1) continue;
      this.pending.splice(at, 1);
      this.deleted.push(id);
    }
  }

  #interrupt({ prompt_id: id }: { prompt_id?: string }): void {
    if (this.running === null || this.#stop) return;
    if (!this.#isOld && id !== undefined && id !== this.running.id) return;
    this.#stop = true;
    this.interrupted.push(this.running.id);
  }
}

export async function startFakeComfyUi(options: FakeComfyUiOptions = {}): Promise<FakeComfyUi> {
  const server = await startRecordingServer((request, response) => fake.handle(request, response));
  const fake = new FakeComfyUi(server, options);
  return fake;
}

interface Submission {
  readonly prompt: Graph;
  readonly prompt_id?: string;
  readonly client_id?: string;
}

interface Folder {
  readonly type?: string;
  readonly subfolder?: string;
}

interface Inputs {
  readonly batch_size?: unknown;
  readonly seed?: unknown;
}

const STEP_MS = 10;

const STATS = {
  system: { os: 'posix', comfyui_version: '0.3.64', python_version: '3.12', argv: ['main.py'] },
  devices: [{ name: 'cuda:0 NVIDIA GeForce RTX 4090', type: 'cuda', index: 0, vram_total: 1 }],
};

function rowOf({ id, graph }: ComfyJob): readonly unknown[] {
  return [1, id, graph, {}, []];
}

function failed(messages: readonly Message[]): object {
  return { outputs: {}, status: { status_str: 'error', completed: false, messages } };
}
