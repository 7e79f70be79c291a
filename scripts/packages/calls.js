// Calls to a gateway with demo models, as a stock client makes them.
import { until } from './processes.js';

/** @typedef {{ url: string, key: string }} Caller */

/** @param {Caller} caller @param {string} path @param {object} [body] */
async function call({ url, key }, path, body) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { ...request, headers });
  if (answer.ok) return answer;
  throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

/** @param {Caller} caller @param {string} path @param {object} [body] @returns {Promise<any>} */
async function callJson(caller, path, body) {
  return (await call(caller, path, body)).json();
}

const QUESTION = [{ role: 'user', content: 'Hello from the test of packages' }];

/** @param {Caller} caller @param {string} [content] @returns {Promise<string>} */
export async function chat(caller, content) {
  const messages = content === undefined ? QUESTION : [{ role: 'user', content }];
  const answer = await callJson(caller, '/v1/chat/completions', { model: 'demo-chat', messages });
  const text = answer.choices[0].message.content;
  if (typeof text !== 'string' || text === '') throw new Error('the chat has no answer');
  return text;
}

/** @param {Caller} caller @returns {Promise<number>} How many pieces came. */
export async function stream(caller) {
  const body = { model: 'demo-chat', messages: QUESTION, stream: true };
  const text = await (await call(caller, '/v1/chat/completions', body)).text();
  const events = text.split('\n').filter((line) => line.startsWith('data: '));
  if (events.at(-1) !== 'data: [DONE]') throw new Error(`the stream ends in ${events.at(-1)}`);
  return events.length - 1;
}

/** @param {Caller} caller @returns {Promise<string>} The state in which it ended. */
export async function job(caller) {
  const body = { model: 'demo-chat', messages: QUESTION, async: true };
  const { id } = await callJson(caller, '/v1/chat/completions', body);
  const { status } = await callJson(caller, `/v1/jobs/${id}?wait=30`);
  if (status !== 'PROCESSED') throw new Error(`the job is ${status}`);
  return status;
}

/**
 * The demo speaks WAV: the agent makes Opus of it, in a thread.
 * @param {Caller} caller
 * @returns {Promise<number>} The size of the sound in bytes.
 */
export async function opusSpeech(caller) {
  const body = { model: 'demo-voice', input: 'Hello', voice: 'demo-low', response_format: 'opus' };
  const bytes = Buffer.from(await (await call(caller, '/v1/audio/speech', body)).arrayBuffer());
  if (bytes.toString('latin1', 0, 4) !== 'OggS') throw new Error('the speech is not Ogg');
  return bytes.length;
}

/** Waits until the agent's models are there. @param {Caller} caller @returns {Promise<string[]>} */
export function modelsOf(caller) {
  return until('the models of the agent', async () => {
    const { data } = await callJson(caller, '/v1/models');
    const ids = data.map((/** @type {{ id: string }} */ { id }) => id);
    return ids.includes('demo-chat') ? ids : null;
  });
}

/** @param {string} url @returns {Promise<number>} */
export async function health(url) {
  return (await fetch(`${url}/healthz`)).status;
}
