/** piper's own HTTP server: the current `piper1-gpl` and the older `rhasspy/piper`. */
import type { ServerResponse } from 'node:http';
import type { Handler, RecordedRequest } from '../recording-server.js';
import { jsonOf } from './posted.js';
import { page, startRoutedServer } from './routed-server.js';
import type { RoutedServer } from './routed-server.js';
import { speak } from './spoken.js';

export const PIPER_VOICES = ['en_GB-alba-medium', 'de_DE-thorsten-high'];

const SOFTWARE = 'Werkzeug/3.1.3 Python/3.12.3';

export function startPiper(): Promise<RoutedServer> {
  const config = { audio: { sample_rate: 22_050 }, espeak: { voice: 'en-gb' }, num_speakers: 1 };
  return startRoutedServer({
    software: SOFTWARE,
    get: {
      '/': page('Piper'),
      '/info': {
        voice: { name: PIPER_VOICES[0], language: 'en-gb', num_speakers: 1 },
        last: null,
      },
      '/voices': Object.fromEntries(PIPER_VOICES.map((name) => [name, config])),
    },
    post: { '/synthesize': synthesize },
    missing: flaskPage(404, 'Not Found'),
  });
}

/** The older one speaks the text sent to `/`, by GET too, and lists nothing. */
export function startOlderPiper(): Promise<RoutedServer> {
  return startRoutedServer({
    software: SOFTWARE,
    get: { '/': (request: RecordedRequest, response: ServerResponse) => older(request, response) },
    post: { '/': older },
    missing: flaskPage(404, 'Not Found'),
  });
}

/** Uses the default voice if the voice is unknown. */
function synthesize(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
  const { text, length_scale: scale = 1 } = jsonOf(request);
  if (typeof text !== 'string' || text.trim() === '' || Number.isNaN(Number(scale))) {
    return flaskPage(500, 'Internal Server Error')(request, response);
  }
  return speak(response, 'text/html; charset=utf-8');
}

function older(request: RecordedRequest, response: ServerResponse): void | Promise<void> {
  const text = request.method === 'POST' ? request.body.toString() : request.query.get('text');
  if (text === null || text.trim() === '') {
    return flaskPage(500, 'Internal Server Error')(request, response);
  }
  return speak(response, 'text/html; charset=utf-8');
}

function flaskPage(status: number, title: string): Handler {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html>\n<html lang=en>\n<title>${status} ${title}</title>\n`);
  };
}
