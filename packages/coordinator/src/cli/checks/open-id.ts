/** Whether the configured OpenID provider answers, as the one that it is to be. */
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { discoverProvider } from '../../accounts/oidc.js';
import type { OidcSettings } from '../../accounts/oidc.js';

const ADVICE =
  'Compare GATEWAY_OIDC_ISSUER with "issuer" in the discovery document ' +
  '(docs/operations/log-in.md): curl ';

/** Empty if none is configured. */
export async function checkProvider(provider: OidcSettings | null): Promise<Check[]> {
  if (provider === null) return [];
  const { pass, fail } = checking('openid provider');
  try {
    const server = (await discoverProvider(provider)).serverMetadata();
    const missing = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].find(
      (name) => server[name] === undefined,
    );
    if (missing === undefined) return [pass(`${server.issuer} answers`)];
    return [fail(`its discovery document has no ${missing}`, ADVICE + documentOf(provider))];
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return [fail(`${documentOf(provider)}: ${why}`, ADVICE + documentOf(provider))];
  }
}

function documentOf({ issuer }: OidcSettings): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}
