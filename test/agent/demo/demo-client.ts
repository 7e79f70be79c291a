/** A demo server for the tests of one file, and ways to ask it that the SDK has none for. */
import { startDemoServer } from '@inference-gateway/agent/demo/server';
import OpenAI from 'openai';

export interface DemoClient {
  readonly baseUrl: string;
  readonly openai: OpenAI;
  /** Objects go as JSON. */
  post(path: string, body: object): Promise<Response>;
  close(): Promise<void>;
}

export async function demoClient(): Promise<DemoClient> {
  const server = await startDemoServer();
  const { baseUrl } = server;
  const openai = new OpenAI({ baseURL: baseUrl, apiKey: 'unused', maxRetries: 0 });
  const post = (path: string, body: object) => {
    const isForm = body instanceof FormData;
    return fetch(baseUrl + path, { method: 'POST', body: isForm ? body : JSON.stringify(body) });
  };
  return { baseUrl, openai, post, close: () => server.close() };
}

/** The parts of a refusal: its status, the field and the message. */
export async function refusalOf(answer: Response) {
  const { error } = (await answer.json()) as {
    error: { message: string; type: string; code: null; param: string | null };
  };
  return { status: answer.status, ...error };
}
