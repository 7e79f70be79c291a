/** `GET /models`: every server that speaks OpenAI's API has it, and most have nothing else. */
import { asObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { ServiceConfig } from '../backend.js';
import { checkAnswer, probe, serverRoot } from '../probe.js';
import type { AskedServer, Listing } from './dialect.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import type { ModelItem } from '../model-list.js';

export interface PlainListing extends Listing {
  /** The owners that the server names for its models. */
  readonly owners: ReadonlySet<string>;
}

/** Configured models need no list: any answer then shows that the server is up. */
export async function listPlainly(
  { apiKey, baseUrl, models, type }: ServiceConfig,
  signal: AbortSignal,
): Promise<PlainListing> {
  const url = `${baseUrl}/models`;
  const answer = await probe(url, { apiKey, signal });
  checkAnswer(answer, url, { trusted: models !== null });
  const items = readModelList(answer.json);
  if (items === null && models === null) throw noList(url);
  return {
    models: (items ?? []).filter((item) => fitsType(item, type)).map(readAs(type)),
    slots: null,
    owners: new Set((items ?? []).flatMap(({ owned_by: owner }) => owner ?? [])),
  };
}

/** The rows of the list, of any type, for a dialect that reads more from them. */
export async function listItems(server: AskedServer): Promise<readonly ModelItem[]> {
  const url = `${server.baseUrl}/models`;
  const items = readModelList(await server.get(url));
  if (items === null) throw noList(url);
  return items;
}

function readAs(type: ServiceConfig['type']) {
  return (item: ModelItem) => readListedModel(item, type);
}

function noList(url: string): LocalFailure {
  return new LocalFailure(
    'LOCAL_ERROR',
    `${url} is not a list of models. Name models in the configuration.`,
  );
}

// One configured server while the agent asks what it serves: GET only, one request at a time.

/** The signal aborts the requests. */
export function askedServer(service: ServiceConfig, signal: AbortSignal): AskedServer {
  const { type, baseUrl, apiKey } = service;
  const ask = (url: string) => probe(url, { apiKey, signal });
  return {
    type,
    baseUrl,
    root: serverRoot(baseUrl),
    async get(url) {
      const answer = await ask(url);
      checkAnswer(answer, url);
      if (answer.status < 300 && isSuccess(answer.json)) return answer.json;
      throw new LocalFailure(
        'LOCAL_ERROR',
        `${url} did not answer as it should (status ${answer.status}). Check the base URL.`,
      );
    },
    async find(url) {
      const { status, json } = await ask(url);
      return status === 200 && isSuccess(json) ? json : null;
    },
  };
}

/**
 * LM Studio answers 200 to every path, with an error in the body if the path does not exist; others
 * have `error: null` in every answer.
 */
function isSuccess(json: unknown): boolean {
  return json !== undefined && (asObject(json)?.['error'] ?? null) === null;
}
