/** What is to be seen of a server's certificate before anything is sent to it. */
import { connect } from 'node:tls';
import type { PeerCertificate } from 'node:tls';
import { isLoopback } from '../loopback.js';
import { checking } from './check.js';
import type { Check } from './check.js';

const NAME = 'tls';

const TIMEOUT_MS = 10_000;

/** Certificates that renew themselves do so some 30 days before their end. */
const SOON_DAYS = 14;

const DAY_MS = 86_400_000;

/** Who mends what, and with which command: the advice of a failure ends with it. */
export interface CertificateRemedies {
  /** It is over, or not yet good, or for another name. */
  readonly renew: string;
  /** Nobody whom this machine knows vouches for it. */
  readonly trust: string;
}

/** Whether this machine would trust the server at that address, and how long still. */
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
    return judgeEnd(certificate, { renew, nowMs: Date.now() });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = UNREACHED[code];
    if (why === undefined) return fail(`no TLS at ${url.host}: ${message}`, renew);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const command = isNameFault(code) ? `nslookup ${host}` : `curl -v ${url.origin}`;
    return fail(`${why} (${message})`, `See the way there with: ${command}`);
  }
}

/** Faults of the certificate itself; all others are that nobody known vouches for it. */
const RENEWED: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Why no server was met at all, by the codes of Node. */
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

/** How long a certificate that is trusted holds still. */
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
  /** Why it is not trusted; null if it is. */
  readonly fault: string | null;
  readonly certificate: PeerCertificate;
}

/** Says nothing to the server, so that one which is not trusted may be looked at, too. */
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

/** Node types it as an error and gives a code. */
function codeOf(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  return (fault as NodeJS.ErrnoException).code ?? fault.message;
}

function authorityOf(issuer: PeerCertificate['issuer']): string {
  const names = [issuer.O, issuer.CN].flat().filter((name) => name !== undefined);
  return names[0] ?? 'an authority without a name';
}

/** What is wrong with a server's certificate, by the code that Node or OpenSSL has for it. */
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

/** Null for a code that is none of a certificate's. */
export function certificateFault(code: string): string | null {
  return FAULTS[code] ?? null;
}
