/** The local servers where no agent runs that knows them: asked by the doctor itself. */
import { Catalog } from '../backends/catalog/catalog.js';
import type { AgentConfig } from '../config.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { LocalServers } from './local-servers.js';

/** Longer than a server may take to tell what it serves. */
const FIRST_ROUND_MS = 10_000;

/** Lets go of them whatever comes of it. */
export async function withOwnServers<T>(
  config: AgentConfig,
  look: (servers: Omit<LocalServers, 'busy'>) => Promise<T>,
): Promise<T> {
  const tools = { ffmpeg: await findFfmpeg(config.ffmpeg) };
  const catalog = new Catalog(config.services, { tools, firstRoundMs: FIRST_ROUND_MS });
  try {
    await catalog.start();
    const services = catalog.status().map(({ models, heldBack, ...rest }) => ({
      ...rest,
      // Whether one is proven, only a running agent knows.
      models: [...models, ...heldBack.map(({ id }) => id)],
    }));
    return await look({
      services,
      test: (service, limitMs) => catalog.test({ model: null, service, limitMs }),
    });
  } finally {
    catalog.close();
  }
}
