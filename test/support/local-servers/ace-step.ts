/** ACE-Step 1.5: one task at a time behind a queue; tasks cannot be canceled. */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { audioFile } from '../audio-files.js';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { jsonOf } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';

/** The outcome of tasks submitted from now on. */
interface AceStepState {
  /** The number of the poll that finds a task done. */
  doneAtLook: number;
  /** The reason for which each task fails; null if they succeed. */
  failure: string | null;
  /** The path of the audio file in its answers. */
  file: string;
  /** Whether the queue is full: new tasks are refused. */
  full: boolean;
  /** `performance.now()` of the last submission or poll. */
  askedAt: number;
}

export interface AceStep extends AceStepState {
  readonly routed: RoutedServer;
}

export async function startAceStep(): Promise<AceStep> {
  const state: AceStepState = {
    doneAtLook: 1,
    failure: null,
    file: '/v1/audio?path=%2Ftmp%2Fapi_audio%2Fabc123.mp3',
    full: false,
    askedAt: 0,
  };
  const looks = new Map<string, number>();
  const models = { models: MODELS, default_model: MODELS[0]?.name };
  const routed = await startRoutedServer({
    software: 'uvicorn',
    title: 'ACE-Step API',
    get: {
      '/health': wrapped({ status: 'ok', service: 'ACE-Step API', version: '1.0' }),
      '/v1/models': wrapped(models),
      '/v1/stats': wrapped({ jobs: { total: 0 }, queue_size: 0, queue_maxsize: 200 }),
      '/v1/audio': download,
    },
    post: {
      '/release_task': (request, response) => release(request, response, { state, looks }),
      '/query_result': (request, response) => query(request, response, { state, looks }),
    },
  });
  return Object.assign(state, { routed });
}

const MODELS = [
  { name: 'acestep-v15-turbo', is_default: true, is_loaded: true },
  { name: 'acestep-v15-base', is_default: false, is_loaded: false },
];

interface Desk {
  readonly state: AceStepState;
  /** Polls so far, by task. */
  readonly looks: Map<string, number>;
}

function release(request: RecordedRequest, response: ServerResponse, jobActions: Desk): void {
  const { state, looks } = jobActions;
  state.askedAt = performance.now();
  if (state.full) return send(response, 429, { detail: 'Server busy: queue is full' });
  if (typeof jsonOf(request)['prompt'] !== 'string') {
    return send(response, 400, { detail: 'prompt must be a string' });
  }
  const id = randomUUID();
  looks.set(id, 0);
  return send(response, 200, wrapped({ task_id: id, status: 'queued', queue_position: 1 }));
}

function query(request: RecordedRequest, response: ServerResponse, jobActions: Desk): void {
  jobActions.state.askedAt = performance.now();
  const ids = jsonOf(request)['task_id_list'] as string[];
  send(response, 200, wrapped(ids.map((id) => look(id, jobActions))));
}

/** An unknown task looks like a waiting one, except for its empty result. */
function look(id: string, { state, looks }: Desk): object {
  const before = looks.get(id);
  if (before === undefined) return { task_id: id, result: '[]', status: 0 };
  looks.set(id, before + 1);
  const isOver = before + 1 >= state.doneAtLook;
  const code = !isOver ? 0 : state.failure === null ? 1 : 2;
  const file = code === 1 ? state.file : '';
  const error = code === 2 ? state.failure : null;
  const result = JSON.stringify([{ file, wave: '', status: code, create_time: 1, error }]);
  return { task_id: id, result, status: code, progress_text: '' };
}

async function download({ query: asked }: RecordedRequest, response: ServerResponse) {
  if (!asked.get('path')?.startsWith('/tmp/api_audio/')) {
    return send(response, 404, { detail: 'Audio file not found' });
  }
  response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(await audioFile('mp3'));
  return undefined;
}

function wrapped(data: unknown): object {
  return { data, code: 200, error: null, timestamp: 1_700_000_000_000, extra: null };
}
