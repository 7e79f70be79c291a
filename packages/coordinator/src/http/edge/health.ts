/** Health checks: `/healthz` (the process is alive) and `/readyz` (it can serve). */
import { ApiError } from '@inference-gateway/shared/errors';
import type Router from '@koa/router';
import type { Store } from '../../store/port.js';
import { createDocument } from '../../openapi/document.js';
import { CALL_KINDS } from '../inference/kinds.js';
import type { RequestState } from './context.js';

/** Names are for administrators: this is public. */
interface NodesHealth {
  readonly name: string;
  /** The other coordinators that run, and whether this one is linked to them. */
  readonly linked: ReadonlyMap<string, boolean>;
  /** An administrator wants it to serve nobody any more. */
  readonly isDraining: boolean;
}

export interface Health {
  readonly store: Pick<Store, 'isCurrent' | 'isWritable' | 'clockWarning'>;
  /** The database is on a server, and not a file of ours. */
  readonly isOnServer: boolean;
  isDraining(): boolean;
  /** Null on SQLite, where there is one coordinator. */
  readonly nodes?: NodesHealth | null;
}

const DISK_FAULT = 'The database takes no writes. Look at its disk.';
const SERVER_FAULT =
  "The database's server takes no writes from here. Look at its log, its disk, and the way to it.";
const SILENT_FAULT =
  "The database's server has not answered for 3 s. Look at its log, and the way to it.";

export function healthRoutes(router: Router<RequestState>, health: Health): void {
  router.get('/', (ctx) => {
    ctx.body = { name: 'inference-gateway', api: '/v1' };
  });
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', async (ctx) => {
    if (health.isDraining()) throw new ApiError('shutting_down', 'The gateway is shutting down.');
    // Callers who come nevertheless are served: the proxy in front learns of it in a moment.
    if (health.nodes?.isDraining === true) throw new ApiError('shutting_down', DRAINED);
    const fault = await databaseFault(health);
    if (fault !== null) throw new ApiError('storage_unavailable', fault);
    const warning = health.store.clockWarning();
    const details = warning === null ? {} : { details: [warning] };
    ctx.body = { status: 'ready', ...(health.nodes && describe(health.nodes)), ...details };
  });
}

function describe({ name, linked }: NodesHealth) {
  const links = [...linked.values()];
  return { node: name, others: { running: links.length, linked: links.filter(Boolean).length } };
}

const DRAINED = 'An administrator has drained this coordinator: send callers to the others.';

/** Null if it can be used. */
async function databaseFault({ store, isOnServer }: Health): Promise<string | null> {
  if (!store.isCurrent()) return store.clockWarning() ?? SILENT_FAULT;
  if (await store.isWritable()) return null;
  return isOnServer ? SERVER_FAULT : DISK_FAULT;
}

// `GET /openapi.json`: the API description, without a key.

/** `publicUrl` is called with the first request: the port is known only once the server listens. */
export function openapiRoutes(router: Router<RequestState>, publicUrl: () => string): void {
  let written: Buffer | null = null;
  router.get('/openapi.json', (ctx) => {
    written ??= Buffer.from(JSON.stringify(createDocument(publicUrl(), CALL_KINDS)));
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = written;
  });
}
