/** A model server whose answers wait until the test releases them. */
import type { ServerResponse } from 'node:http';
import { answer } from './fake-behaviours.js';
import { sendJson } from './fake-model-server.js';
import type { Behaviour, FakeModelServer } from './fake-model-server.js';
import { startFakeOpenAi } from './fake-openai-server.js';
import { picture } from './pictures.js';
import { onTestFinished } from 'vitest';

export interface HeldModel {
  readonly server: FakeModelServer;
  /** Answers the waiting requests, and from now on every request at once. */
  release(): void;
  /** From now on new requests wait again. */
  hold(): void;
}

/** A server whose answers say `text` and wait for the test. */
export async function startHeldModel(text = 'Held.'): Promise<HeldModel> {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  const server = await startFakeServerOf(async (request, response) => {
    if (isHeld) await new Promise<void>((go) => waiting.push(go));
    await answerAny(text)(request, response);
  });
  return {
    server,
    release: () => {
      isHeld = false;
      for (const go of waiting.splice(0)) go();
    },
    hold: () => {
      isHeld = true;
    },
  };
}

/** A server that answers chats with `text`, and images with a picture, at once. */
export async function startQuickModel(text = 'Quick.'): Promise<FakeModelServer> {
  return startFakeServerOf(answerAny(text));
}

/** Chats are answered with `text`, images with a picture. */
export function answerAny(text: string): Behaviour {
  return (request, response) =>
    request.path.endsWith('/images/generations')
      ? sendPicture(response)
      : answer({ text })(request, response);
}

async function startFakeServerOf(behaviour: Behaviour): Promise<FakeModelServer> {
  const server = await startFakeOpenAi({ behaviour });
  onTestFinished(() => server.close());
  return server;
}

function sendPicture(response: ServerResponse): void {
  sendJson(response, 200, { created: 1, data: [{ b64_json: picture().toString('base64') }] });
}
