/** Infinity: models for embeddings and reranking, which its list tells apart. */
import type { Dialect } from '../openai/dialect.js';
import { listItems } from '../openai/list.js';
import { fitsType, readListedModel, tellsType } from '../model-list.js';

export const INFINITY: Dialect = {
  async list(server) {
    const items = await listItems(server);
    const ours = items.filter((item) => tellsType(item) && fitsType(item, server.type));
    const models = ours.map((item) => ({ ...readListedModel(item, server.type), loaded: true }));
    return { models, slots: null };
  },
};
