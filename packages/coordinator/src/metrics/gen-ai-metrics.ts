/**
 * Metrics of the OpenTelemetry conventions for generative AI, with Prometheus names: dots become
 * underscores and the unit is appended. The gateway is a model server for its callers and a client
 * of the servers behind it. Buckets follow the conventions, unless a comment says otherwise.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { UsageRow } from '../store/port.js';

/** A counted call: its usage row, and values that the row does not have. */
export interface CountedCall {
  readonly row: UsageRow;
  readonly stream: boolean;
  /** False if the number of tokens is unknown, which differs from 0 tokens. */
  readonly tokensKnown: boolean;
}

/**
 * Limit of models with their own series. Each model has about eighty lines. A scrape writes all
 * lines in one go and delays streams meanwhile.
 */
export const MAX_MODELS = 100;

/** Extends the conventions' 81.92 s: a call may take 280 s, and a job longer. */
const DURATION_BUCKETS_S = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84,
  327.68,
];

/** Extends the conventions' 10 s: a home machine may have to load the model first. */
const FIRST_TOKEN_BUCKETS_S = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];

const PER_TOKEN_BUCKETS_S = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/**
 * Ends at the largest count that the meter accepts for one call. The conventions end at 67108864.
 */
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** Not a well-known provider of the conventions: the models run on members' own machines. */
const PROVIDER = 'inference_gateway';

const LABELS = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const;

type Labels = Readonly<Record<(typeof LABELS)[number], string>>;

export class GenAiMetrics {
  readonly #models = new KnownNames(MAX_MODELS);
  readonly #duration: Histogram<(typeof LABELS)[number] | 'error_type'>;
  readonly #firstToken: Histogram<(typeof LABELS)[number]>;
  readonly #perToken: Histogram<(typeof LABELS)[number]>;
  readonly #tokens: Histogram<(typeof LABELS)[number] | 'gen_ai_token_type'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#duration = new Histogram({
      name: 'gen_ai_server_request_duration_seconds',
      help: 'From the arrival of a call to the end of its answer, waiting included.',
      labelNames: [...LABELS, 'error_type'],
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.#firstToken = new Histogram({
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'From the arrival of a streamed call to the first byte of its answer, if it succeeded.',
      labelNames: LABELS,
      buckets: FIRST_TOKEN_BUCKETS_S,
      registers,
    });
    this.#perToken = new Histogram({
      name: 'gen_ai_server_time_per_output_token_seconds',
      help: 'Time for each token after the first, in streamed calls that succeeded.',
      labelNames: LABELS,
      buckets: PER_TOKEN_BUCKETS_S,
      registers,
    });
    this.#tokens = new Histogram({
      name: 'gen_ai_client_token_usage',
      help: 'Tokens of a call, where the model server told them.',
      labelNames: [...LABELS, 'gen_ai_token_type'],
      buckets: TOKEN_BUCKETS,
      registers,
    });
  }

  observe(call: CountedCall): void {
    const { row } = call;
    const labels: Labels = {
      gen_ai_operation_name: ENDPOINTS[row.endpoint].operation,
      gen_ai_provider_name: PROVIDER,
      gen_ai_request_model: this.#models.labelOf(row.model, row.providerId !== null),
    };
    const error = errorType(row);
    const labelsOfEnd = error === null ? labels : { ...labels, error_type: error };
    this.#duration.observe(labelsOfEnd, row.totalMs / 1000);
    if (call.tokensKnown) this.#observeTokens(row, labels);
    if (call.stream && row.outcome === 'ok') this.#observePace(call, labels);
  }

  #observeTokens(row: UsageRow, labels: Labels): void {
    this.#tokens.observe({ ...labels, gen_ai_token_type: 'input' }, row.promptTokens);
    this.#tokens.observe({ ...labels, gen_ai_token_type: 'output' }, row.completionTokens);
  }

  #observePace({ row, tokensKnown }: CountedCall, labels: Labels): void {
    const { firstByteMs, totalMs, completionTokens } = row;
    if (firstByteMs === null) return;
    this.#firstToken.observe(labels, firstByteMs / 1000);
    if (!tokensKnown || completionTokens < 2) return;
    this.#perToken.observe(labels, (totalMs - firstByteMs) / (completionTokens - 1) / 1000);
  }
}

/** One of the gateway's error codes, a closed list; null if the call succeeded. */
function errorType({ outcome, errorCode }: UsageRow): string | null {
  if (outcome === 'ok') return null;
  return outcome === 'canceled' ? 'canceled' : (errorCode ?? '_OTHER');
}

/**
 * Limits the values of a label. Each value is a time series until the process ends, and members
 * choose the names of models. Names beyond the limit are counted as `other`.
 */
export class KnownNames {
  readonly #limit: number;
  readonly #names = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The name itself, or `other`. Remembers a name only with `proof` (the model is served): callers
   * could otherwise fill the list with invented names.
   */
  labelOf(name: string, proof: boolean): string {
    if (this.#names.has(name)) return name;
    if (!proof || this.#names.size >= this.#limit) return OTHER;
    this.#names.add(name);
    return name;
  }
}

const OTHER = 'other';
