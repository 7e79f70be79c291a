/** The stage for the playground's tests: a machine with a model of each kind. */
import type { ConfiguredModel, ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { openBrowser } from './browser.js';
import type { TestBrowser } from './browser.js';
import type { FakeModelServer } from './fake-model-server.js';
import { startFakeOpenAi } from './fake-openai-server.js';
import { openGateway } from './gateway.js';
import type { TestGateway } from './gateway.js';
import { logIn } from './page-session.js';
import { picture, runFfmpeg } from './pictures.js';
import { send, startRecordingServer } from './recording-server.js';
import type { RecordedRequest, RecordingServer } from './recording-server.js';
import { tone } from './sound.js';

export interface Playground {
  readonly gateway: TestGateway;
  readonly browser: TestBrowser;
  /** Serves `tiny` and `sees`, which reads pictures. */
  readonly llm: FakeModelServer;
  /**
   * Serves `painter`, `kokoro`, `chatterbox` (which clones voices), `whisper` (with timestamps),
   * `plain-whisper`, `ace` (music) and `wan` (video).
   */
  readonly media: RecordingServer;
  /** Opens the playground of this kind as Anna. */
  open(kind: string): Promise<Page>;
  /** Opens it as Ben, who has no model. */
  openEmpty(kind: string): Promise<Page>;
  close(): Promise<void>;
}

export async function openPlayground(): Promise<Playground> {
  const gateway = await openGateway();
  const browser = await openBrowser(gateway);
  const llm = await startFakeOpenAi();
  const media = await startRecordingServer(answerMedia);
  await gateway.startAgent({ services: servicesOf(llm, media) });
  const openAs = async (who: { readonly email: string }, kind: string): Promise<Page> => {
    const page = await browser.newPage();
    await logIn(page, gateway, who);
    await page.goto(`/playground/${kind}`);
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    return page;
  };
  return {
    gateway,
    browser,
    llm,
    media,
    open: (kind) => openAs(gateway.anna, kind),
    openEmpty: (kind) => openAs(gateway.ben, kind),
    async close() {
      await browser.close();
      await gateway.stop();
      await Promise.all([llm.close(), media.close()]);
    },
  };
}

/** Without frames out of order: with them Chromium's shell takes it for a frame longer. */
const FILM = '-f lavfi -i testsrc=size=64x64:rate=8:duration=1 -pix_fmt yuv420p -bf 0'.split(' ');

export const WORDS = [
  { word: 'Hello', start: 0, end: 0.4 },
  { word: 'there', start: 0.8, end: 1.2 },
];

/** Types the text and sends it by keyboard. */
export async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.fill(text);
  await box.press('Enter');
}

/** The answers of a model on the page. */
export function answerOf(page: Page, model: string) {
  return page.getByRole('region', { name: `Answer of ${model}` });
}

/** Sends the text, and waits until the answer is complete. */
export async function sent(page: Page, text: string, model = 'tiny'): Promise<void> {
  await say(page, text);
  await answerOf(page, model).last().getByText('Request').waitFor();
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
}

/** A film of one second, made once. */
let film: Promise<Buffer> | null = null;

async function answerMedia(request: RecordedRequest, response: ServerResponse): Promise<void> {
  const { method, path } = request;
  if (method === 'GET' && path.endsWith('/voices')) {
    return send(response, 200, { voices: ['af_heart', 'bf_emma'] });
  }
  if (method === 'GET') return send(response, 200, { object: 'list', data: [] });
  if (path.endsWith('/transcriptions')) {
    return send(response, 200, { text: 'Hello there', language: 'en', duration: 2, words: WORDS });
  }
  if (['/speech', '/voice/generations', '/music/generations'].some((end) => path.endsWith(end))) {
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(tone(0.5));
    return undefined;
  }
  if (path.endsWith('/videos/generations')) {
    film ??= runFfmpeg([...FILM, '-movflags', 'frag_keyframe+empty_moov', '-f', 'mp4']);
    response.writeHead(200, { 'content-type': 'video/mp4' }).end(await film);
    return undefined;
  }
  return send(response, 200, { created: 1, data: [{ b64_json: picture().toString('base64') }] });
}

function servicesOf(llm: FakeModelServer, media: RecordingServer): Partial<ServiceConfig>[] {
  const baseUrl = `${media.origin}/v1`;
  const chats = [model('tiny'), model('sees', { inputModalities: ['text', 'image'] })];
  const voices = ['af_heart', 'bf_emma'];
  const speakers = [
    model('kokoro', { voices }),
    model('chatterbox', { supportedFeatures: ['voice-cloning'] }),
  ];
  const heard = [model('whisper', { supportedFeatures: ['timestamps'] }), model('plain-whisper')];
  return [
    { id: 'llm-0', type: 'llm', baseUrl: llm.baseUrl, models: chats },
    { id: 'image-0', type: 'image', baseUrl, models: [model('painter')] },
    { id: 'tts-0', type: 'tts', baseUrl, models: speakers },
    { id: 'stt-0', type: 'stt', baseUrl, models: heard },
    { id: 'music-0', type: 'music', baseUrl, models: [model('ace')] },
    { id: 'video-0', type: 'video', baseUrl, models: [model('wan')] },
  ];
}

function model(id: string, facts: Partial<ConfiguredModel> = {}): ConfiguredModel {
  const unknown = { contextLength: null, inputModalities: null, supportedFeatures: null };
  return { id, servedName: id, ...unknown, ...facts };
}
