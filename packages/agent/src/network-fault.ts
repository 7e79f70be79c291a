/** Explains why a coordinator cannot be reached: the fault and its remedy. */
import { certificateFault } from '@inference-gateway/shared/program/certificate';

/** The fields that Node, ws and node-fetch set on their errors. */
interface NetworkError {
  readonly message: string;
  readonly code?: unknown;
  /** One per attempt, if a name has several addresses. */
  readonly errors?: readonly unknown[];
}

export function networkFault(cause: unknown): string {
  const error = firstOf(cause as NetworkError);
  const code = typeof error.code === 'string' ? error.code : '';
  const detail = detailOf(error);
  const certificate = certificateFault(code);
  if (certificate === null) return FAULTS[code]?.(detail) ?? detail;
  return certificate + (CERTIFICATE_REMEDIES[code]?.(detail) ?? untrusted(code));
}

/** The message may contain text of an untrusted certificate, and goes to a terminal. */
function detailOf({ message }: NetworkError): string {
  return message
    .replace(/^request to .* failed, reason: /, '')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_CHARACTERS);
}

const MAX_CHARACTERS = 300;

/** Node tries all addresses of a name, and then names none of them. */
function firstOf(error: NetworkError): NetworkError {
  const [first] = error.errors ?? [];
  return error.message === '' && first instanceof Error ? first : error;
}

const OFFLINE = 'Is this machine online?';

const FAULTS: Readonly<Record<string, (detail: string) => string>> = {
  ENOTFOUND: (detail) => `no DNS server knows its name (${detail}). ${OFFLINE}`,
  EAI_AGAIN: (detail) => `no DNS server answers (${detail}). ${OFFLINE}`,
  ECONNREFUSED: (detail) => `nothing listens there (${detail})`,
  ECONNRESET: (detail) => `the connection was cut (${detail})`,
  EHOSTUNREACH: (detail) => `no way leads there (${detail}). ${OFFLINE}`,
  ENETUNREACH: (detail) => `no way leads there (${detail}). ${OFFLINE}`,
  ETIMEDOUT: (detail) => `no answer (${detail}). ${OFFLINE}`,
  EPROTO: notTls,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
};

function notTls(detail: string): string {
  return `it does not speak TLS (${detail}). Is this the port that https:// is served on?`;
}

/** Follows the fault; any other fault means that the certificate is not trusted. */
const CERTIFICATE_REMEDIES: Readonly<Record<string, (detail: string) => string>> = {
  CERT_HAS_EXPIRED: () =>
    ". The admin of the coordinator renews it; if this machine's clock is wrong, set that",
  CERT_NOT_YET_VALID: () => ". If this machine's clock is wrong, set it",
  ERR_TLS_CERT_ALTNAME_INVALID: (detail) =>
    ` (${detail}). Write the one that it is for, or find out who answers in its place`,
};

/** The certificate may have changed: the reader must ask before they trust it. */
function untrusted(code: string): string {
  return (
    ` (${code}). If it was another before, ask the admin of the coordinator what has changed; if ` +
    'it is meant so, name the file of the certificate that vouches for it in ' +
    'NODE_EXTRA_CA_CERTS and start again'
  );
}
