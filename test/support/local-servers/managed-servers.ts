/**
 * LM Studio, llama.cpp's router and LocalAI with the APIs by which their models are managed, as
 * their documentation describes them.
 */
import type { ServerResponse } from 'node:http';
import { send, startRecordingServer } from '../recording-server.js';
import type { Handler, RecordedRequest, RecordingServer } from '../recording-server.js';
import { jsonOf, textIn } from './posted.js';

type Routes = Readonly<Record<string, Handler>>;

function routed(routes: Routes, missing: Handler): Promise<RecordingServer> {
  return startRecordingServer((request, response) => {
    const { method, path } = request;
    const [route] = Object.keys(routes).filter((one) => `${method} ${path}`.startsWith(one));
    return ((route === undefined ? undefined : routes[route]) ?? missing)(request, response);
  });
}

function modelOf(request: RecordedRequest): string {
  return textIn(jsonOf(request), 'model', '');
}

function refuse(response: ServerResponse, code: number, message: string): void {
  send(response, code, { error: { code, message, type: 'invalid_request_error' } });
}

/** LM Studio 0.4: its downloads cannot be stopped, and it deletes nothing. */
interface ManagedLmStudio {
  readonly server: RecordingServer;
  readonly loaded: Set<string>;
  /** Of the download: done when it reaches `total`. */
  done: number;
  readonly total: number;
}

export async function startManagedLmStudio(): Promise<ManagedLmStudio> {
  const state = { loaded: new Set<string>(), done: 400, total: 1_000 };
  const keys = ['tiny', 'qwen/qwen3-4b'];
  const job = () => ({
    job_id: 'job_1',
    status: state.done < state.total ? 'downloading' : 'completed',
    downloaded_bytes: state.done,
    total_size_bytes: state.total,
  });
  const isThere = (key: string): boolean => key === 'tiny' || state.done >= state.total;
  const row = (key: string) => ({
    type: 'llm',
    key,
    size_bytes: 1_000,
    loaded_instances: state.loaded.has(key)
      ? [{ id: `${key}:2`, config: { context_length: 4_096 } }]
      : [],
    max_context_length: 4_096,
  });
  const routes: Routes = {
    'GET /api/v1/models/download/status/job_1': (_, response) => send(response, 200, job()),
    'GET /api/v1/models': (_, response) =>
      send(response, 200, { models: keys.filter(isThere).map(row) }),
    'GET /v1/models': (_, response) =>
      send(response, 200, { object: 'list', data: keys.filter(isThere).map((id) => ({ id })) }),
    'POST /api/v1/models/load': (request, response) => {
      const key = textIn(jsonOf(request), 'model', '');
      state.loaded.add(key);
      send(response, 200, { model_instance_id: `${key}:2`, load_time_seconds: 1 });
    },
    'POST /api/v1/models/unload': (request, response) => {
      const id = textIn(jsonOf(request), 'instance_id', '');
      state.loaded.delete(id.replace(/:2$/, ''));
      send(response, 200, { instance_id: id });
    },
    'POST /api/v1/models/download': (_, response) => send(response, 200, job()),
  };
  // Every path answers 200.
  const server = await routed(routes, ({ method, path }, response) =>
    send(response, 200, { error: `Unexpected endpoint or method. (${method} ${path})` }),
  );
  return Object.assign(state, { server });
}

/** llama.cpp's router, by default of a version that pulls and deletes. */
interface ManagedRouter {
  readonly server: RecordingServer;
  /** By id: `unloaded`, `loading`, `loaded` or `downloading`. */
  readonly status: Map<string, string>;
  /** Sends an event to all that listen. */
  readonly tell: (model: string, event: string, data?: object) => void;
}

export async function startManagedRouter(pulls = true): Promise<ManagedRouter> {
  const status = new Map([
    ['tiny', 'unloaded'],
    ['user/cached:Q4_K_M', 'unloaded'],
  ]);
  const listeners = new Set<ServerResponse>();
  const props = { role: 'router', max_instances: 2, models_autoload: true, build_info: 'b1-x' };
  const routes: Routes = {
    'GET /props': (_, response) => send(response, 200, props),
    'GET /v1/models': (_, response) => {
      const data = [...status].map(([id, value]) => {
        return { id, status: { value }, can_remove: id.includes('/'), owned_by: 'llamacpp' };
      });
      // The next question finds it loaded.
      for (const [id, value] of status) if (value === 'loading') status.set(id, 'loaded');
      send(response, 200, { object: 'list', data });
    },
    'POST /models/load': (request, response) => {
      status.set(modelOf(request), 'loading');
      send(response, 200, { success: true });
    },
    'POST /models/unload': (request, response) => {
      const model = modelOf(request);
      const value = status.get(model);
      if (value === undefined) return refuse(response, 400, 'model is not found');
      if (value === 'unloaded') return refuse(response, 400, 'model is not running');
      if (value === 'downloading') status.delete(model);
      else status.set(model, 'unloaded');
      return send(response, 200, { success: true });
    },
    ...(pulls && {
      'GET /models/sse': (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        listeners.add(response);
        response.on('close', () => listeners.delete(response));
      },
      'POST /models': (request, response) => {
        status.set(modelOf(request), 'downloading');
        send(response, 200, { success: true });
      },
      'DELETE /models': ({ query }, response) => {
        const model = query.get('model') ?? '';
        if (!status.delete(model)) return refuse(response, 500, `model name=${model} is not found`);
        return send(response, 200, { success: true });
      },
    }),
  };
  const server = await routed(routes, (_, response) => refuse(response, 404, 'File Not Found'));
  return {
    server,
    status,
    tell: (model, event, data = {}) => {
      const text = JSON.stringify({ model, event, data });
      for (const one of listeners) one.write(`data: ${text}\n\n`);
    },
  };
}

/** LocalAI with a gallery of two models, one of which needs a back end that is not installed. */
interface ManagedLocalAi {
  readonly server: RecordingServer;
  readonly models: Set<string>;
  readonly loaded: Set<string>;
  /** The state of its operation. */
  job: { processed: boolean; error?: string; current_bytes: number; cancelled?: boolean };
}

export async function startManagedLocalAi(): Promise<ManagedLocalAi> {
  const state = {
    models: new Set(['tiny']),
    loaded: new Set<string>(),
    job: { processed: false, current_bytes: 300 },
  } as Omit<ManagedLocalAi, 'server'> & { job: ManagedLocalAi['job'] };
  const gallery = [
    { name: 'phi-2', backend: 'llama-cpp' },
    { name: 'whisper-x', backend: 'whisperx' },
  ];
  const paths = { load: '/backend/load', shutdown: '/backend/shutdown' };
  const routes: Routes = {
    'GET /.well-known/localai.json': (_, response) =>
      send(response, 200, { version: 'v4.1.0', endpoints: paths }),
    'GET /api/operations': (_, response) => send(response, 200, { operations: [] }),
    'GET /api/ps': (_, response) =>
      send(response, 200, { models: [...state.loaded].map((name) => ({ name })) }),
    'GET /v1/models/capabilities': (_, response) =>
      send(response, 200, {
        data: [...state.models].map((id) => ({ id, capabilities: ['chat'] })),
      }),
    'GET /v1/models': (_, response) =>
      send(response, 200, { object: 'list', data: [...state.models].map((id) => ({ id })) }),
    'GET /models/available': (_, response) => send(response, 200, gallery),
    'GET /backends': (_, response) => send(response, 200, [{ Name: 'llama-cpp' }]),
    'GET /api/models/variants/': (_, response) => send(response, 200, { variants: [] }),
    'GET /models/jobs/job-1': (_, response) =>
      send(response, 200, { total_bytes: 1_000, message: 'processing', progress: 0, ...state.job }),
    'GET /models/jobs/gone-1': (_, response) => send(response, 200, { processed: true }),
    'POST /api/models/install/': ({ path }, response) => {
      state.models.add(decodeURIComponent(path.split('/').pop() ?? ''));
      send(response, 200, { jobID: 'job-1', message: 'Installation started' });
    },
    'POST /api/operations/job-1/cancel': (_, response) => {
      state.job = { ...state.job, processed: true, cancelled: true };
      send(response, 200, { success: true });
    },
    'POST /models/delete/': ({ path }, response) => {
      state.models.delete(decodeURIComponent(path.split('/').pop() ?? ''));
      send(response, 200, { uuid: 'gone-1', status: 'http://127.0.0.1/models/jobs/gone-1' });
    },
    'POST /backend/load': (request, response) => {
      state.loaded.add(modelOf(request));
      send(response, 200, { loaded: [modelOf(request)], message: 'model loaded' });
    },
    'POST /backend/shutdown': (request, response) => {
      state.loaded.delete(modelOf(request));
      send(response, 200, { message: 'model stopped' });
    },
  };
  const server = await routed(routes, (_, response) =>
    send(response, 404, { error: { message: 'Not Found', code: 404 } }),
  );
  return Object.assign(state, { server });
}
