/** Requests as any HTTP client writes them, and their answers read without an SDK. */
import { callLocal } from '@inference-gateway/shared/program/local-socket';
import { adminSocketPath } from '@inference-gateway/coordinator/operations/admin-socket';
import type { ErrorBody } from '@inference-gateway/shared/errors';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

export const CHAT = '/v1/chat/completions';

/** Sends requests with a member's key. */
export type Caller = Pick<TestGateway, 'fetch'>;

/** A short chat for the model `tiny`, with fields added or replaced. */
export function chat<Fields extends object>(fields?: Fields) {
  const messages = [{ role: 'user' as const, content: 'hello' }];
  return { model: 'tiny', messages, ...(fields as Fields) };
}

interface PostOptions extends Omit<RequestInit, 'headers'> {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Posts JSON with Anna's key, unless the headers have another key. */
export function post(
  gateway: Caller,
  body: unknown,
  { path = CHAT, headers = {}, ...init }: PostOptions = {},
): Promise<Response> {
  return gateway.fetch(path, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** The status, the error object, and the header that tells clients whether to retry. */
export async function failureOf(response: Response) {
  const { error } = (await response.json()) as ErrorBody;
  return { status: response.status, retry: response.headers.get('x-should-retry'), ...error };
}

/** The payloads of a stream's `data:` lines, `[DONE]` included. */
export function eventsOf(text: string): string[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: '))
    .map((event) => event.slice('data: '.length));
}

/** The text of all chunks of a stream, joined. */
export function textOf(text: string): string {
  const chunks = eventsOf(text).filter((event) => event !== '[DONE]');
  return chunks
    .map((chunk) => JSON.parse(chunk) as { choices?: { delta?: { content?: string } }[] })
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('');
}

/** The number of requests that the caller has left in the window; asking does not count as one. */
export async function remaining(gateway: Caller): Promise<number> {
  const { headers } = await gateway.fetch('/v1/jobs');
  return Number(headers.get('x-ratelimit-remaining'));
}

/** Sends a request; resolves once the gateway has received it, before its answer. */
export async function sent<Answer>(
  gateway: Caller,
  send: () => Answer,
): Promise<{ readonly answer: Answer }> {
  const before = await remaining(gateway);
  const answer = send();
  await until(async () => (await remaining(gateway)) < before, { what: 'the request to come in' });
  return { answer };
}

/** Runs an operation as the coordinator's command line does, through the same socket. */
export async function administer(
  gateway: Pick<TestGateway, 'dataDir'>,
  command: string,
  args: object,
): Promise<Record<string, unknown>> {
  const reply = await callLocal(adminSocketPath(gateway.dataDir), { command, args });
  if (reply === null) throw new Error('no coordinator runs');
  return reply.result as Record<string, unknown>;
}
