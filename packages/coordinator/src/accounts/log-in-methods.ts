/** Ways to log in besides the password, as a coordinator offers them. */
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { Store } from '../store/port.js';
import { openLogInTokens } from './log-in-tokens.js';
import { Oidc } from './oidc.js';
import type { OidcSettings } from './oidc.js';
import { Passkeys } from './passkeys.js';

export interface LogInMethods {
  readonly passkeys: Passkeys;
  /** Null: no OpenID provider is configured. */
  readonly oidc: Oidc | null;
}

interface LogInMethodParts {
  readonly store: Pick<Store, 'sharedSecret'>;
  readonly dataDir: string;
  readonly databaseUrl: string | null;
  readonly publicUrl: () => string;
  readonly logger: Logger;
  readonly now: () => number;
}

export async function openLogInMethods(
  provider: OidcSettings | null,
  parts: LogInMethodParts,
): Promise<LogInMethods> {
  const tokens = await openLogInTokens(parts);
  const oidc = provider === null ? null : new Oidc(provider, { ...parts, tokens });
  return { passkeys: new Passkeys({ ...parts, tokens }), oidc };
}
