/** Common parts of the stand-ins of local servers. */
import type { IncomingMessage } from 'node:http';
import { answer } from '../fake-behaviours.js';
import { startFakeServer } from '../fake-model-server.js';
import type {
  Behaviour,
  FakeModelServer,
  FakeServerOptions,
  RawRoute,
  Route,
} from '../fake-model-server.js';

export interface StandInOptions {
  readonly port?: number;
  /** The key that it requires, in the way of the real server. */
  readonly apiKey?: string;
  /** Added to the server's own paths, or in place of them. */
  readonly routes?: Readonly<Record<string, Route>>;
  readonly behaviour?: Behaviour;
}

/** The properties of the server itself. */
export interface Nature extends Pick<FakeServerOptions, 'headers' | 'guard'> {
  readonly routes: Readonly<Record<string, Route>>;
  readonly behaviour?: Behaviour;
}

/** Answers chats at once by default. */
export function startStandIn(
  { port, routes, behaviour }: StandInOptions,
  nature: Nature,
): Promise<FakeModelServer> {
  return startFakeServer({
    ...nature,
    behaviour: behaviour ?? nature.behaviour ?? answer(),
    routes: { ...nature.routes, ...routes },
    ...(port !== undefined && { port }),
  });
}

interface Door {
  readonly refusal: RawRoute;
  /** Whether a path requires the key; by default all do. */
  readonly guards?: (path: string) => boolean;
}

/** Requires `apiKey`, if set, as a bearer token. */
export function keyed(
  apiKey: string | undefined,
  { refusal, guards = () => true }: Door,
): (request: IncomingMessage) => RawRoute | null {
  return ({ url = '/', headers }) => {
    if (apiKey === undefined || !guards(url.split('?')[0] ?? '/')) return null;
    return headers.authorization === `Bearer ${apiKey}` ? null : refusal;
  };
}

/** OpenAI's list; `facts` are the defaults of each entry. */
export function modelList(
  rows: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[],
  facts: Readonly<Record<string, unknown>>,
): object {
  const data = rows.map((row) => ({ object: 'model', created: 1_700_000_000, ...facts, ...row }));
  return { object: 'list', data };
}

/** Ollama's list, as other servers that answer its paths make it. */
export function ollamaTags(...names: readonly string[]): object {
  const models = names.map((name) => ({
    name,
    model: name,
    modified_at: '2026-01-01T00:00:00Z',
    size: 1,
    digest: `sha256:${name}`,
    details: { format: 'gguf' },
  }));
  return { models };
}
