/** Examines a server's certificate before anything is sent to it. */
import { connect } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { SYSTEM_CLOCK } from '../clock.js';
import { isLoopback } from '../loopback.js';
import { checking } from './check.js';
import type { Check } from './check.js';

const NAME = 'tls';

const TIMEOUT_MS = 10_000;

/** Automatic renewal happens about 30 days before the end. */
const SOON_DAYS = 14;

const DAY_MS = 86_400_000;

/** The commands that fix a failure, shown at the end of its advice. */
export interface CertificateRemedies {
  /** Expired, not yet valid, or for another name. */
  readonly renew: string;
  /** Not signed by an authority that this machine trusts. */
  readonly trust: string;
}

/** Whether this machine trusts the server at that address, and for how long. */
export async function checkCertificate(
  address: string,
  { renew, trust }: CertificateRemedies,
): Promise<Check> {
  const { fail, skip } = checking(NAME);
  const url = new URL(address);
  if (url.protocol !== 'https:') {
    const isHere = isLoopback(url.hostname);
    return skip(isHere ? `${address} stays on this machine` : `${address} is not encrypted`);
  }
  try {
    const { fault, certificate } = await see(url);
    if (fault !== null) {
      const found = certificateFault(fault) ?? 'its certificate is not trusted here';
      return fail(`${found} (${fault})`, RENEWED.has(fault) ? renew : trust);
    }
    return judgeEnd(certificate, { renew, nowMs: SYSTEM_CLOCK.now() });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = UNREACHED[code];
    if (why === undefined) return fail(`no TLS at ${url.host}: ${message}`, renew);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const command = isNameFault(code) ? `nslookup ${host}` : `curl -v ${url.origin}`;
    return fail(`${why} (${message})`, `See the way there with: ${command}`);
  }
}

/** Errors of the certificate itself; all others mean an unknown authority. */
const RENEWED: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Why no server answered, by Node's codes. */
const UNREACHED: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no DNS server knows its name',
  EAI_AGAIN: 'no DNS server answers',
  ECONNREFUSED: 'nothing listens there',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  ETIMEDOUT: 'it does not answer',
};

function isNameFault(code: string): boolean {
  return code === 'ENOTFOUND' || code === 'EAI_AGAIN';
}

/** The remaining validity of a trusted certificate. */
export function judgeEnd(
  { valid_to: validTo, issuer }: Pick<PeerCertificate, 'valid_to' | 'issuer'>,
  { renew, nowMs }: Pick<CertificateRemedies, 'renew'> & { readonly nowMs: number },
): Check {
  const { pass, warn } = checking(NAME);
  const days = Math.floor((Date.parse(validTo) - nowMs) / DAY_MS);
  const found = `valid for ${days} more days, by ${authorityOf(issuer)}`;
  return days < SOON_DAYS ? warn(found, renew) : pass(found);
}

interface Seen {
  /** Why it is not trusted; null if it is trusted. */
  readonly fault: string | null;
  readonly certificate: PeerCertificate;
}

/** Sends nothing to the server, so that an untrusted one may be examined, too. */
function see(url: URL): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const servername = /^[\d.]+$|:/.test(host) ? undefined : host;
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ...(servername !== undefined && { servername }),
      rejectUnauthorized: false,
    });
    const timer = setTimeout(() => {
      socket.destroy(new Error(`no answer within ${TIMEOUT_MS / 1_000} s`));
    }, TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      const fault = socket.authorized ? null : codeOf(socket.authorizationError);
      resolve({ fault, certificate: socket.getPeerCertificate() });
      socket.destroy();
    });
  });
}

/** Node types it as an error, but passes a code. */
function codeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return (fault as NodeJS.ErrnoException).code ?? fault.message;
}

function authorityOf(issuer: PeerCertificate['issuer']): string {
  const names = [issuer.O, issuer.CN].flat().filter((name) => name !== undefined);
  return names[0] ?? 'an authority without a name';
}

/** The error of a server's certificate, by the code of Node or OpenSSL. */
const FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another address',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority unknown here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is signed by an authority unknown here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority unknown here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is signed by an authority unknown here, which it does not send along',
  CERT_UNTRUSTED: 'its certificate is not trusted here',
  CERT_SIGNATURE_FAILURE: 'its certificate is not signed by whom it names',
};

/** Null for a code that is not about certificates. */
export function certificateFault(code: string): string | null {
  return FAULTS[code] ?? null;
}
