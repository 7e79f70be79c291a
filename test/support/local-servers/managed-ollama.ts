/**
 * An Ollama whose models are loaded, unloaded, pulled and deleted: its answers are those that its
 * API's documentation shows, and a pull ends when its connection closes.
 */
import type { ServerResponse } from 'node:http';
import { send, startRecordingServer } from '../recording-server.js';
import type { RecordedRequest, RecordingServer } from '../recording-server.js';
import { until } from '../until.js';
import { jsonOf, textIn } from './posted.js';

/** How a pull of this model goes: to its end, or otherwise after half of its bytes. */
type Ending = 'success' | 'broken connection' | 'error' | 'silence';

interface Published {
  readonly layers: readonly number[];
  readonly ending?: Ending;
}

const ERROR = 'max retries exceeded: write /home/ann/.ollama/models/blobs/x: no space left';

export class ManagedOllama {
  server!: RecordingServer;
  /** By name, with sizes. */
  readonly models = new Map<string, number>();
  readonly loaded = new Set<string>();
  /** What its registry has; other names are unknown there. */
  readonly library = new Map<string, Published>();
  /** Pulls wait in their middle while this is set. */
  isHeld = false;
  /** Bytes that were transferred, as another program would see it on the disk. */
  transferred = 0;

  get baseUrl(): string {
    return this.server.origin;
  }

  async listen(): Promise<this> {
    this.server = await startRecordingServer((request, response) =>
      this.#answer(request, response),
    );
    return this;
  }

  /** Pulls that are under way now. */
  get pulls(): RecordedRequest[] {
    return this.server.to('/api/pull');
  }

  #answer(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
    const { method, path } = request;
    const handler = this.#routes[`${method} ${path}`];
    return handler === undefined
      ? send(response, 404, '404 page not found')
      : handler(request, response);
  }

  readonly #routes: Readonly<
    Record<string, (request: RecordedRequest, response: ServerResponse) => void | Promise<void>>
  > = {
    'GET /api/version': (_, response) => send(response, 200, { version: '0.12.0' }),
    'GET /api/tags': (_, response) => {
      const models = [...this.models].map(([name, size]) => {
        return { name, model: name, size, digest: `sha256:${name}`, capabilities: ['completion'] };
      });
      send(response, 200, { models });
    },
    'GET /api/ps': (_, response) => {
      const models = [...this.loaded].map((name) => {
        const size = this.models.get(name) ?? 0;
        return { name, model: name, size, size_vram: size, context_length: 4_096 };
      });
      send(response, 200, { models });
    },
    'POST /api/generate': (request, response) => {
      const fields = jsonOf(request);
      const name = textIn(fields, 'model', '');
      if (!this.models.has(name)) {
        return send(response, 404, { error: `model '${name}' not found` });
      }
      const isUnload = fields['keep_alive'] === 0;
      if (isUnload) this.loaded.delete(name);
      else this.loaded.add(name);
      const reason = isUnload ? 'unload' : 'load';
      return send(response, 200, { model: name, response: '', done: true, done_reason: reason });
    },
    'DELETE /api/delete': (request, response) => {
      const name = textIn(jsonOf(request), 'model', '');
      if (!this.models.delete(name)) {
        return send(response, 404, { error: `model '${name}' not found` });
      }
      this.loaded.delete(name);
      response.writeHead(200).end();
      return undefined;
    },
    'POST /api/pull': (request, response) => this.#pull(request, response),
  };

  async #pull(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const written = textIn(jsonOf(request), 'model', '');
    const name = written.includes(':') ? written : `${written}:latest`;
    const line = (fields: object): void => void response.write(`${JSON.stringify(fields)}\n`);
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    line({ status: 'pulling manifest' });
    const published = this.library.get(name);
    if (published === undefined) {
      line({ error: 'pull model manifest: file does not exist' });
      response.end();
      return;
    }
    const { layers, ending = 'success' } = published;
    for (const [index, total] of layers.entries()) {
      const digest = `sha256:${name}-${index}`;
      const told = { status: `pulling ${digest}`, digest, total };
      line(told);
      line({ ...told, completed: Math.floor(total / 2) });
      this.transferred += Math.floor(total / 2);
      if (index === 0 && ending !== 'success') return this.#end(ending, response);
      if (this.isHeld) await until(() => !this.isHeld || response.destroyed);
      if (response.destroyed) return;
      line({ ...told, completed: total });
      this.transferred += Math.ceil(total / 2);
    }
    for (const status of ['verifying sha256 digest', 'writing manifest', 'success']) {
      line({ status });
    }
    this.models.set(
      name,
      layers.reduce((sum, bytes) => sum + bytes, 0),
    );
    response.end();
  }

  #end(ending: Ending, response: ServerResponse): void {
    if (ending === 'error') response.end(`${JSON.stringify({ error: ERROR })}\n`);
    else if (ending === 'broken connection') response.destroy();
    // Else nothing comes any more, and the connection stays open.
  }
}

export function startManagedOllama(): Promise<ManagedOllama> {
  return new ManagedOllama().listen();
}
