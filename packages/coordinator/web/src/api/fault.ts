/** Errors of the coordinator, and of requests without an answer. */
export class Fault extends Error {
  /** 0 if there was no answer. */
  readonly status: number;
  readonly code: string;
  /** The field that is wrong; null if the error is not about one field. */
  readonly param: string | null;
  readonly requestId: string | null;
  /** Seconds after which the request may be tried again; null if the answer does not say. */
  readonly retryAfterS: number | null;

  constructor(message: string, told: Partial<Pick<Fault, keyof FaultFacts>> = {}) {
    super(message);
    this.status = told.status ?? 0;
    this.code = told.code ?? 'unreachable';
    this.param = told.param ?? null;
    this.requestId = told.requestId ?? null;
    this.retryAfterS = told.retryAfterS ?? null;
  }

  /** The request id, if the fault is the coordinator's own: its admin finds it in the log. */
  get reportId(): string | null {
    const isOwn = this.status >= 500 && !this.message.includes(this.requestId ?? '');
    return isOwn ? this.requestId : null;
  }
}

interface FaultFacts {
  status: number;
  code: string;
  param: string | null;
  requestId: string | null;
  retryAfterS: number | null;
}

const UNREACHABLE =
  'The coordinator does not answer. Check that you are online; this page keeps trying.';

export function unreachable(): Fault {
  return new Fault(UNREACHABLE);
}

/** Decodes the `{error: {message, type, code, param}}` of an answer that is not OK. */
export async function readFault(response: Response): Promise<Fault> {
  const text = await response.text().catch(() => '');
  const error = errorOf(text);
  const retryAfter = Number(response.headers.get('retry-after'));
  return new Fault(error?.message ?? `The coordinator answered ${response.status}. Try again.`, {
    status: response.status,
    code: error?.code ?? 'unknown',
    param: error?.param ?? null,
    requestId: response.headers.get('x-request-id'),
    retryAfterS: retryAfter > 0 ? retryAfter : null,
  });
}

interface ErrorObject {
  readonly message: string;
  readonly code: string;
  readonly param: string | null;
}

function errorOf(text: string): ErrorObject | null {
  try {
    const body = JSON.parse(text) as { error?: ErrorObject };
    return typeof body.error?.message === 'string' ? body.error : null;
  } catch {
    return null;
  }
}

/** Turns any thrown value into an error that can be shown. */
export function asFault(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  return new Fault(thrown instanceof Error ? thrown.message : String(thrown), { code: 'page' });
}
