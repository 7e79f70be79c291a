/** Finds the model that an owner means, among all services of this machine. */
import { didYouMean } from '@inference-gateway/shared/nearest';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { subjectsOf } from '../catalog/watched-server.js';
import type { WatchedServer } from '../catalog/watched-server.js';
import type { Subject } from './try-model.js';

export interface Wanted {
  /** Null: any, a loaded one first. */
  readonly model: string | null;
  /** Null: any service that has it, a loaded model first. */
  readonly service: string | null;
  /** Time limit for the answer; null: the limit of its type. */
  readonly limitMs: number | null;
}

/** Throws with exit code 3 if there is no such model, and 6 if its server does not answer. */
export function findSubject(services: readonly WatchedServer[], wanted: Wanted): Subject {
  const asked = servicesOf(services, wanted.service);
  const subjects = asked.flatMap(subjectsOf);
  const meant = subjects.filter(({ model }) => wanted.model === null || model.id === wanted.model);
  const found = meant.find(({ model }) => model.loaded === true) ?? meant[0];
  if (found !== undefined) return found;
  const name = wanted.model ?? '';
  const known = subjects.map(({ model }) => model.id);
  throw silent(asked, name) ?? unknown(`model "${name}"`, { name, known, list: 'status' });
}

function servicesOf(
  services: readonly WatchedServer[],
  id: string | null,
): readonly WatchedServer[] {
  if (services.length === 0) throw noServices();
  if (id === null) return services;
  const found = services.filter(({ config }) => config.id === id);
  if (found.length > 0) return found;
  const known = services.map(({ config }) => config.id);
  throw unknown(`service "${id}"`, { name: id, known, list: 'services list' });
}

/** Null if every server that may have it has answered. */
function silent(services: readonly WatchedServer[], model: string): CommandError | null {
  const isMeant = ({ config }: WatchedServer): boolean =>
    config.models?.some(({ id }) => id === model) ?? false;
  const down = services.filter(({ state }) => state.kind !== 'up');
  const one = down.find(isMeant) ?? (down.length === services.length ? down[0] : undefined);
  if (one === undefined) return null;
  const why = one.state.kind === 'down' ? one.state.reason : 'it has not answered yet';
  return new CommandError(
    EXIT.localServerUnreachable,
    `${one.config.id} at ${one.config.baseUrl} does not serve: ${why}`,
  );
}

function noServices(): CommandError {
  return new CommandError(
    EXIT.notFound,
    'no service is configured: look for model servers with "gateway-agent services scan --add".',
  );
}

interface Unknown {
  readonly name: string;
  readonly known: readonly string[];
  /** The command that lists the models. */
  readonly list: string;
}

function unknown(what: string, { name, known, list }: Unknown): CommandError {
  const hint = didYouMean(name, known) ?? `see "gateway-agent ${list}".`;
  return new CommandError(EXIT.notFound, `no ${what} here: ${hint}`);
}
