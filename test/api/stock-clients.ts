/** The versions of the stock client that must work unchanged; only base URL and key are set. */
import OpenAI from 'openai';
import OpenAI7 from 'openai-7';
import type { TestGateway } from '../support/gateway.js';

export type Sdk = typeof OpenAI;

/** The parts that these tests use are the same in both; only names of types differ. */
export const STOCK_CLIENTS: readonly { readonly version: string; readonly Sdk: Sdk }[] = [
  { version: 'openai 6.49.0', Sdk: OpenAI },
  { version: 'openai 7.55.0', Sdk: OpenAI7 as unknown as Sdk },
];

interface ClientOptions {
  /** Anna's key by default. */
  readonly apiKey?: string;
  /** Stock clients retry twice; these do not by default. */
  readonly maxRetries?: number;
  readonly baseURL?: string;
}

export function connect(Sdk: Sdk, gateway: TestGateway, options: ClientOptions = {}): OpenAI {
  return new Sdk({
    baseURL: gateway.baseUrl,
    apiKey: gateway.anna.key,
    maxRetries: 0,
    ...options,
  });
}
