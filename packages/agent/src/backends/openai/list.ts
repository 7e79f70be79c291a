/** `GET /models`, which every server that speaks OpenAI's API has, and most have nothing else. */
import { LocalFailure } from '../backend.js';
import type { ServiceConfig } from '../backend.js';
import { checkAnswer } from '../check-answer.js';
import type { AskedServer, Listing } from './dialect.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import type { ModelItem } from '../model-list.js';
import { probe } from '../probe.js';

export interface PlainListing extends Listing {
  /** Who the server says owns any of its models. */
  readonly owners: ReadonlySet<string>;
}

/** Configured models need no list; whatever it answers then shows that the server is up. */
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

/** The rows of the list, whatever they do, for a dialect that knows more. */
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
