/** The subjects that can be shared: a whole provider, one of its services, one of its models. */
import type { GivenShare, OwnProvider, Subject } from './shares.js';

export interface MatrixRow {
  readonly key: string;
  readonly provider: OwnProvider;
  readonly subject: Subject;
  readonly kind: 'everything' | 'service' | 'model';
  /** For the middle of a sentence: "everything", "llm-0", "llama3.2:3b". */
  readonly what: string;
  /** False if the provider does not serve it now. */
  readonly isServed: boolean;
}

export interface MatrixRows {
  readonly rows: readonly MatrixRow[];
  readonly hidden: number;
}

/** Models per provider that are shown before the member asks for all. */
const MODELS_SHOWN = 8;

export function matrixRows(
  providers: readonly OwnProvider[],
  shares: readonly GivenShare[],
  isWhole: boolean,
): MatrixRows {
  const parts = providers.map((provider) => {
    const own = shares.filter((share) => share.provider_id === provider.id);
    return rowsOf(provider, own, isWhole);
  });
  return {
    rows: parts.flatMap(({ rows }) => rows),
    hidden: parts.reduce((sum, { hidden }) => sum + hidden, 0),
  };
}

function rowsOf(
  provider: OwnProvider,
  shares: readonly GivenShare[],
  isWhole: boolean,
): MatrixRows {
  const served = provider.services.map(({ service_id: id }) => id);
  const bound = shares.flatMap(({ service_id: id }) => id ?? []);
  // If there is only one service, its row would mean the same as "everything".
  const services = [...new Set([...(served.length > 1 ? served : []), ...bound])];
  const named = new Set(shares.flatMap(({ model }) => model ?? []));
  const models = [...new Set([...provider.models, ...named])];
  const shown = models.filter(
    (model, index) => isWhole || index < MODELS_SHOWN || named.has(model),
  );
  return {
    rows: [
      rowOf(provider, { service: null, model: null }, true),
      ...services.map((id) => rowOf(provider, { service: id, model: null }, served.includes(id))),
      ...shown.map((id) =>
        rowOf(provider, { service: null, model: id }, provider.models.includes(id)),
      ),
    ],
    hidden: models.length - shown.length,
  };
}

function rowOf(provider: OwnProvider, subject: Subject, isServed: boolean): MatrixRow {
  const { service, model } = subject;
  const kind = model === null ? (service === null ? 'everything' : 'service') : 'model';
  return {
    key: `${provider.id} ${kind} ${model ?? service ?? ''}`,
    provider,
    subject,
    kind,
    what: model ?? service ?? 'everything',
    isServed,
  };
}
