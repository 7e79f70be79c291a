/**
 * Stable Diffusion's web UI: it runs one job at a time behind a lock. A job goes on when its caller
 * leaves, and an interruption stops the running job, whichever it is.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { picture } from './pictures.js';
import { send, startRecordingServer } from './recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from './recording-server.js';

export interface FakeWebUiOptions {
  /** `--api-auth`. */
  readonly auth?: string;
  /** How long a job takes unless it is interrupted. */
  readonly jobMs?: number;
  /** True: it knows jobs by their ids. False: it does not, as older versions and SD.Next. */
  readonly namesJobs?: boolean;
  /** Puts a grid before several images, as some forks do even if told not to. */
  readonly grid?: boolean;
}

export const CHECKPOINTS = [
  checkpoint('v1-5-pruned', '6ce0161689'),
  checkpoint('dreamshaper_8', '879db523c3'),
];

interface RunningJob {
  readonly id: string;
  readonly endsAt: number;
  interrupted: boolean;
}

const STEP_MS = 10;

export class FakeWebUi {
  readonly server: RecordingServer;
  /** The bodies of jobs, in the order in which they began. */
  readonly jobs: Record<string, unknown>[] = [];
  /** The ids of jobs that were interrupted. */
  readonly interrupted: string[] = [];
  readonly ended: string[] = [];
  /** Answers jobs in place of the default. */
  behaviour: Handler | null = null;
  running: RunningJob | null = null;
  jobMs: number;
  readonly #options: FakeWebUiOptions;
  #lock: Promise<void> = Promise.resolve();

  constructor(server: RecordingServer, options: FakeWebUiOptions) {
    this.server = server;
    this.#options = options;
    this.jobMs = options.jobMs ?? 0;
  }

  /** A picture that the owner makes on the web UI's page. */
  startOwnersJob(ms: number): Promise<void> {
    return this.#run('task(owner)', ms);
  }

  handle(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
    const { auth } = this.#options;
    const wanted = auth === undefined ? undefined : `Basic ${btoa(auth)}`;
    // Only the API's paths check the password.
    const isGuarded = wanted !== undefined && request.path.startsWith('/sdapi/');
    if (isGuarded && request.headers.authorization !== wanted) {
      return send(response, 401, { detail: 'Incorrect username or password' });
    }
    switch (`${request.method} ${request.path}`) {
      case 'GET /sdapi/v1/sd-models':
        return send(response, 200, CHECKPOINTS);
      case 'GET /sdapi/v1/options':
        return send(response, 200, { sd_model_checkpoint: CHECKPOINTS[0]?.title });
      case 'GET /sdapi/v1/progress':
        return send(response, 200, this.#progress());
      case 'POST /internal/progress':
        return this.#internalProgress(request, response);
      case 'POST /sdapi/v1/interrupt':
        this.#interrupt();
        return send(response, 200, {});
      case 'POST /sdapi/v1/txt2img':
      case 'POST /sdapi/v1/img2img':
        return this.behaviour === null
          ? this.#generate(request, response)
          : this.behaviour(request, response);
      default:
        return send(response, 404, { detail: 'Not Found' });
    }
  }

  async #generate(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const body = JSON.parse(request.body.toString()) as Record<string, unknown>;
    if (body['sampler_name'] === 'Nonsense') {
      const error = { error: 'HTTPException', detail: 'Sampler not found', body: '', errors: '' };
      return send(response, 400, error);
    }
    const id = this.#options.namesJobs === false ? 'unnamed' : String(body['force_task_id']);
    await this.#run(id, this.jobMs, () => this.jobs.push(body));
    const count = Number(body['n_iter']) * Number(body['batch_size']);
    const hasGrid = this.#options.grid === true && count > 1;
    const length = count + (hasGrid ? 1 : 0);
    const images = Array.from({ length }, (_, seed) => picture({ seed }));
    const info = JSON.stringify(hasGrid ? {} : { index_of_first_image: 0 });
    const encoded = images.map((image) => image.toString('base64'));
    return send(response, 200, { images: encoded, parameters: body, info });
  }

  #run(id: string, ms: number, begun: () => void = () => {}): Promise<void> {
    this.#lock = this.#lock.then(() => this.#work(id, ms, begun));
    return this.#lock;
  }

  /** Ignores the connection: a job goes on after its caller has left. */
  async #work(id: string, ms: number, begun: () => void): Promise<void> {
    const job: RunningJob = { id, endsAt: performance.now() + ms, interrupted: false };
    this.running = job;
    begun();
    while (performance.now() < job.endsAt && !job.interrupted) await pause(STEP_MS);
    this.running = null;
    this.ended.push(id);
  }

  #interrupt(): void {
    if (this.running === null || this.running.interrupted) return;
    this.running.interrupted = true;
    this.interrupted.push(this.running.id);
  }

  /** The original's `current_task` is always null. */
  #progress(): object {
    const eta = this.running === null ? 0 : this.#leftSeconds(this.running);
    return { progress: 0.5, eta_relative: eta, state: { job_count: 1 }, current_task: null };
  }

  #internalProgress(request: RecordedRequest, response: ServerResponse): void {
    if (this.#options.namesJobs === false) return send(response, 404, { detail: 'Not Found' });
    const { id_task: id } = JSON.parse(request.body.toString()) as { id_task: string };
    const active = this.running?.id === id;
    const eta = this.running === null ? null : this.#leftSeconds(this.running);
    return send(response, 200, { active, queued: !active, completed: false, progress: 0.5, eta });
  }

  #leftSeconds({ endsAt }: RunningJob): number {
    return Math.max(0, endsAt - performance.now()) / 1_000;
  }
}

export async function startFakeWebUi(options: FakeWebUiOptions = {}): Promise<FakeWebUi> {
  const server = await startRecordingServer((request, response) => fake.handle(request, response));
  const fake = new FakeWebUi(server, options);
  return fake;
}

function checkpoint(name: string, hash: string) {
  return {
    title: `${name}.safetensors [${hash}]`,
    model_name: name,
    hash,
    filename: `/home/somebody/models/${name}.safetensors`,
    config: null,
  };
}
