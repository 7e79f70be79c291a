/**
 * The metrics that the OpenTelemetry conventions for generative AI name, in Prometheus' spelling:
 * dots become underscores and the unit is appended. The gateway is the model server that its
 * callers see, and the client of the servers behind it. Buckets as the conventions have them,
 * except where a comment says otherwise.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { UsageRow } from '../store/port.js';

/** A call as it is counted: the row that is metered, and what the row leaves out. */
export interface CountedCall {
  readonly row: UsageRow;
  readonly stream: boolean;
  /** False where nobody told how many tokens there were: that is not none. */
  readonly tokensKnown: boolean;
}

/**
 * Distinct models that have series of their own. A model has some eighty lines, and a scrape
 * writes them all in one go, while streams wait.
 */
export const MAX_MODELS = 100;

/** Past the conventions' 81.92 s, since a call may take 280 s and a job longer. */
const DURATION_BUCKETS_S = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84,
  327.68,
];

/** Past the conventions' 10 s: a home machine may load the model first. */
const FIRST_TOKEN_BUCKETS_S = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120,
];

const PER_TOKEN_BUCKETS_S = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** Up to what the meter believes of one call; the conventions go on to 67108864. */
const TOKEN_BUCKETS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
];

/** None of the conventions' well-known providers: the models run on members' own machines. */
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

/** One of our own error codes, which are a closed list; null where the call succeeded. */
function errorType({ outcome, errorCode }: UsageRow): string | null {
  if (outcome === 'ok') return null;
  return outcome === 'canceled' ? 'canceled' : (errorCode ?? '_OTHER');
}

/**
 * Names that become label values. Every value is a time series for as long as the process lives,
 * and members choose the names of models: past the limit, further ones are counted together.
 */
export class KnownNames {
  readonly #limit: number;
  readonly #names = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * The name itself, or `other`. Only a name with `proof` behind it is remembered: one that any
   * caller can make up must not use up the room of those that are served.
   */
  labelOf(name: string, proof: boolean): string {
    if (this.#names.has(name)) return name;
    if (!proof || this.#names.size >= this.#limit) return OTHER;
    this.#names.add(name);
    return name;
  }
}

const OTHER = 'other';
