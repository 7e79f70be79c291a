/**
 * A local server for text, sound and images that counts what it made. The request's text decides
 * the answer: `say 7` gets seven words, `hang` no answer, `fail` an error and `page` HTML.
 */
import { startFakeOpenAi } from './fake-openai-server.js';
import { answer, html500, reply } from './fake-behaviours.js';
import { sendJson } from './fake-model-server.js';
import type { Behaviour, FakeModelServer, FakeRequest } from './fake-model-server.js';
import { picture } from './pictures.js';
import { sendFile, sendImages } from './studio.js';
import { silentWav } from './sound.js';

export interface Made {
  promptTokens: number;
  completionTokens: number;
  images: number;
  audioMs: number;
}

export interface CountingServer {
  readonly fake: FakeModelServer;
  readonly made: Made;
  /** The texts of requests that were never answered. */
  readonly hung: string[];
}

export async function startCountingServer(): Promise<CountingServer> {
  const made: Made = { promptTokens: 0, completionTokens: 0, images: 0, audioMs: 0 };
  const hung: string[] = [];
  const behaviour: Behaviour = (request, response) => {
    const text = textOf(request);
    const [order = '', amount = ''] = text.split(' ');
    if (order === 'hang') hung.push(text);
    if (order === 'hang') return undefined;
    if (order === 'fail') return html500()(request, response);
    if (order === 'page') return reply(200, '<html>', 'text/html')(request, response);
    return make(made, Number(amount))(request, response);
  };
  const fake = await startFakeOpenAi({ models: [], behaviour });
  return { fake, made, hung };
}

/**
 * Makes what the path asks for, and counts it. `amount` is words, or tenths of a second of sound.
 */
function make(made: Made, amount: number): Behaviour {
  return (request, response) => {
    const { path } = request;
    if (path.endsWith('/speech')) {
      made.audioMs += amount * 100;
      return sendFile('audio/wav', silentWav(amount / 10))(request, response);
    }
    if (path.endsWith('/images/generations')) {
      const n = Number(request.body['n']);
      made.images += n;
      const images = Array.from({ length: n }, (_, seed) => picture({ seed }));
      return sendImages(images)(request, response);
    }
    if (path.endsWith('/transcriptions')) return sendJson(response, 200, { text: 'Hello' });
    made.promptTokens += amount * 2;
    made.completionTokens += amount;
    const text = Array.from({ length: amount }, (_, i) => `w${i}`).join(' ');
    return answer({ text, promptTokens: amount * 2 })(request, response);
  };
}

function textOf({ body }: FakeRequest): string {
  const { messages, prompt, input } = body as {
    messages?: { content: string }[];
    prompt?: string;
    input?: string;
  };
  return messages?.[0]?.content ?? prompt ?? input ?? '';
}
