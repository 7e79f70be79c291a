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
