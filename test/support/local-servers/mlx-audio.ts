/** mlx-audio loads any model that a request names, even a request for its voices. */
import type { ServerResponse } from 'node:http';
import { send } from '../recording-server.js';
import type { RecordedRequest } from '../recording-server.js';
import { required } from './posted.js';
import { startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { speak } from './spoken.js';

export interface MlxAudio {
  readonly routed: RoutedServer;
  /** The models that requests made it download. */
  readonly downloads: readonly string[];
}

const MODEL = 'mlx-community/Kokoro-82M-bf16';

export async function startMlxAudio(): Promise<MlxAudio> {
  const downloads: string[] = [];
  const listed = { id: MODEL, object: 'model', created: 1_756_000_000, owned_by: 'system' };
  const routed = await startRoutedServer({
    software: 'uvicorn',
    title: 'FastAPI',
    get: {
      '/': { message: 'Welcome to the MLX Audio API server! Visit https://localhost:3000.' },
      '/v1/models': { object: 'list', data: [listed] },
      '/v1/audio/voices': ({ query }: RecordedRequest, response: ServerResponse) => {
        downloads.push(query.get('model') ?? '');
        send(response, 200, { object: 'list', data: [{ id: 'af_heart', name: 'af_heart' }] });
      },
    },
    post: { '/v1/audio/speech': speech },
  });
  return { routed, downloads };
}

function speech(request: RecordedRequest, response: ServerResponse): void {
  if (required(request, response, ['model', 'input']) !== null) speak(response);
}
