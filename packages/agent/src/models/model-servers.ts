/**
 * The local servers whose models may be managed: those behind the services that the agent
 * advertises now. Several services of one server are one.
 */
import type { CatalogEntry } from '../backends/catalog/catalog.js';
import type { LibraryModel, LibraryModels, ModelLibrary } from '../backends/backend.js';
import { serverRoot } from '../backends/probe.js';

/** A list this young is used again: several tabs of a dashboard poll. */
const FRESH_MS = 1_000;

/** Of a server's answers to one list. */
const LIST_TIMEOUT_MS = 5_000;

export interface ModelServer {
  /** Its root address, which never leaves the machine. */
  readonly root: string;
  /** Of the first service. */
  readonly entry: CatalogEntry;
  readonly entries: readonly CatalogEntry[];
  readonly library: ModelLibrary;
}

/** In the order of the owner's configuration. */
export function modelServers(entries: readonly CatalogEntry[]): ModelServer[] {
  const servers = new Map<string, ModelServer>();
  for (const entry of entries) {
    const { library } = entry.backend;
    if (library === undefined) continue;
    const root = serverRoot(entry.config.baseUrl);
    const key = `${entry.config.backend} ${root}`;
    const known = servers.get(key) ?? { root, entry, entries: [], library };
    servers.set(key, { ...known, entries: [...known.entries, entry] });
  }
  return [...servers.values()];
}

/** The names that the owner's configuration restricts the server to; null: all. */
function allowedNames({ entries }: ModelServer): ReadonlySet<string> | null {
  const named = entries.map(({ config }) => config.models);
  if (named.some((models) => models === null)) return null;
  return new Set(named.flatMap((models) => (models ?? []).map((one) => one.servedName)));
}

export class ModelLists {
  readonly #lists = new Map<
    string,
    { readonly at: number; readonly list: Promise<LibraryModels> }
  >();

  /** What a server keeps, as far as the owner's configuration lets the coordinator know of it. */
  async of(server: ModelServer, isFresh = false): Promise<LibraryModels> {
    const known = this.#lists.get(server.root);
    const isYoung = known !== undefined && performance.now() - known.at < FRESH_MS;
    const list = isYoung && !isFresh ? known.list : this.#ask(server);
    const { can, models } = await list;
    const allowed = allowedNames(server);
    if (allowed === null) return { can, models };
    // A pulled model would not be offered.
    return {
      can: can.filter((action) => action !== 'pull'),
      models: models.filter((model) => namesOf(model).some((name) => allowed.has(name))),
    };
  }

  /** Its models have changed. */
  forget(root: string): void {
    this.#lists.delete(root);
  }

  #ask({ root, library }: ModelServer): Promise<LibraryModels> {
    const list = library.list(AbortSignal.timeout(LIST_TIMEOUT_MS));
    this.#lists.set(root, { at: performance.now(), list });
    list.catch(() => this.#lists.delete(root));
    return list;
  }
}

export function namesOf({ name, aliases }: LibraryModel): readonly string[] {
  return [name, ...aliases];
}
