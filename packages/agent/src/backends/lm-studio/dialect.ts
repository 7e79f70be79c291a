/**
 * LM Studio. Its own lists report which models are loaded and with which context; `/v1/models`
 * lists the models that a request may name: all, or only loaded ones if just-in-time loading is
 * off.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import * as z from 'zod';
import type { ListedModel } from '../advertise.js';
import { foldsUsual } from '../openai/dialect.js';
import type { AskedServer, Dialect, Listing } from '../openai/dialect.js';
import { count, flag, inputsTold } from '../loose-facts.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import { listItems } from '../openai/list.js';
import { OwnApi } from '../own-api.js';
import { LmStudioLibrary } from './library.js';

const instance = z.object({
  id: z.string(),
  config: z.object({ context_length: count, parallel: count }).nullish().catch(null),
});
const model = z.object({
  type: z.string(),
  key: z.string().min(1),
  loaded_instances: z.array(instance).catch([]),
  capabilities: z
    .object({ vision: flag, trained_for_tool_use: flag, reasoning: z.unknown().optional() })
    .nullish()
    .catch(null),
});
/** Since 0.4. */
const newer = z.object({ models: z.array(model) });
/** Later versions report the length, and only for loaded models. */
const older = z.object({
  data: z.array(z.object({ id: z.string(), loaded_context_length: count })),
});

/** Its words for them. */
const TYPES: ReadonlyMap<string, ServiceType> = new Map([
  ['llm', 'llm'],
  ['embedding', 'embedding'],
  ['embeddings', 'embedding'],
]);

type Model = z.infer<typeof model>;

export const LM_STUDIO: Dialect = {
  // The first makes it load another model, the second keeps one in memory.
  dropFields: ['draft_model', 'ttl'],
  folds: foldsUsual,
  library: (server) => new LmStudioLibrary(new OwnApi(server)),
  async list(server) {
    const told = newer.safeParse(await server.find(`${server.root}/api/v1/models`)).data;
    return told === undefined ? listOlder(server) : listNewer(server, told.models);
  },
};

async function listNewer(server: AskedServer, models: readonly Model[]): Promise<Listing> {
  const ids = new Set((await listItems(server)).map(({ id }) => id));
  const ours = models.filter(({ type }) => TYPES.get(type) === server.type);
  const parallel = ours.flatMap(({ loaded_instances: loaded }) => loaded.map(parallelOf));
  return {
    models: ours.flatMap((one) => listed(one, ids) ?? []),
    slots: parallel.length === 0 ? null : Math.max(...parallel),
  };
}

/** Versions that do not report it ran one request at a time. */
function parallelOf({ config }: z.infer<typeof instance>): number {
  return config?.parallel ?? 1;
}

/** Null if a request for it would be refused. */
function listed(
  { key, loaded_instances: loaded, capabilities }: Model,
  ids: ReadonlySet<string>,
): ListedModel | null {
  const servedName = [key, ...loaded.map(({ id }) => id)].find((name) => ids.has(name));
  if (servedName === undefined) return null;
  const contexts = loaded.flatMap(({ config }) => config?.context_length ?? []);
  return {
    servedName,
    // The context of an unloaded model is a setting that the API does not report.
    contextLength: contexts.length === 0 ? null : Math.min(...contexts),
    inputModalities: inputsTold({ image: capabilities?.vision }),
    supportedFeatures: [
      ...(capabilities?.trained_for_tool_use ? ['tools'] : []),
      ...(capabilities?.reasoning ? ['reasoning'] : []),
    ],
    loaded: loaded.length > 0,
  };
}

/** Its list has the rows of `/v1/models` with more fields; before 0.3.6 it does not exist. */
async function listOlder(server: AskedServer): Promise<Listing> {
  const items = await listItems(server);
  const ids = new Set(items.map(({ id }) => id));
  const told = await server.find(`${server.root}/api/v0/models`);
  const rows = readModelList(told) ?? items;
  const ours = rows.filter((row) => ids.has(row.id) && fitsType(row, server.type));
  const contexts = new Map(
    older.safeParse(told).data?.data.map(({ id, loaded_context_length: context }) => [id, context]),
  );
  const models = ours.map((row) => ({
    ...readListedModel(row, server.type),
    contextLength: contexts.get(row.id) ?? null,
  }));
  return { models, slots: null };
}
