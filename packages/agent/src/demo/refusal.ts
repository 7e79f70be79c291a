/** What the demo server refuses, for its boundary to tell in OpenAI's form. */
import type { JsonObject } from '../openai-wire/json.js';

export class DemoRefusal extends Error {
  readonly status: 400 | 404 | 413;
  /** The request field at fault. */
  readonly param: string | null;

  constructor(status: DemoRefusal['status'], message: string, param: string | null = null) {
    super(message);
    this.name = 'DemoRefusal';
    this.status = status;
    this.param = param;
  }

  get body(): JsonObject {
    const { message, param } = this;
    return { error: { message, type: 'invalid_request_error', code: null, param } };
  }
}
