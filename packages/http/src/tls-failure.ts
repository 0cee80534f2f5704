// Why two sides did not come to speak TLS, in words that mend it.
import { transient } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'

interface Words {
  /** What is wrong with `name`. */
  readonly says: (name: string) => string
  readonly fix: string
}

const UNKNOWN_AUTHORITY: Words = {
  says: (name) => `the certificate of ${name} is by an authority that is not believed here`,
  fix: 'Put the certificate of its authority into BATON_TLS_CA_FILE.',
}
const OWN_REFUSED: Words = {
  says: (name) => `${name} does not accept the certificate of this process`,
  fix: 'Set BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE to a certificate that counts today, of an authority that the other side believes.',
}
const OWN_MISSING: Words = {
  says: (name) => `${name} wants a certificate, and this process has none`,
  fix: 'Set BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE to one of an authority that the other side believes.',
}
const NO_TLS_THERE: Words = {
  says: (name) => `${name} does not speak TLS`,
  fix: 'Give it a certificate, or begin its URL with http where it is on this machine.',
}
const NO_COMMON_VERSION: Words = {
  says: (name) => `${name} speaks no version of TLS that is spoken here`,
  fix: 'Have it speak TLS 1.2 or, better, 1.3.',
}

/** By the codes that Node and OpenSSL give. */
const WORDS: Readonly<Record<string, Words>> = {
  CERT_HAS_EXPIRED: {
    says: (name) => `the certificate of ${name} has ended`,
    fix: 'Renew it there; `baton certs renew` does that for those that it has made. It is taken without a restart.',
  },
  CERT_NOT_YET_VALID: {
    says: (name) => `the certificate of ${name} does not count yet`,
    fix: 'Compare the clocks of both machines.',
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    says: (name) => `the certificate of ${name} is for other names than its URL has`,
    fix: 'Call it by a name of its certificate, or give it one with the name of the URL.',
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  CERT_SIGNATURE_FAILURE: UNKNOWN_AUTHORITY,
  INVALID_CA: UNKNOWN_AUTHORITY,
  INVALID_PURPOSE: {
    says: (name) => `the certificate of ${name} is not one for servers`,
    fix: 'Give it a certificate for servers and clients, as `baton certs new` makes them.',
  },
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: OWN_MISSING,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: OWN_REFUSED,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: OWN_REFUSED,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: OWN_REFUSED,
  ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: OWN_REFUSED,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS_THERE,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS_THERE,
  ERR_SSL_UNSUPPORTED_PROTOCOL: NO_COMMON_VERSION,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: NO_COMMON_VERSION,
}

const DEPTH_MAX = 5

/**
 * BATON_TLS_REFUSED where a handshake with `name` has failed, else undefined. It is transient: certificates and authorities are replaced
 * while processes run, and who tries again is let in once both sides have theirs.
 */
export function tlsFailure(error: unknown, name: string): BatonError | undefined {
  let cause = error
  for (let depth = 0; depth < DEPTH_MAX && cause instanceof Error; depth += 1) {
    const words = WORDS[String((cause as NodeJS.ErrnoException).code)]
    if (words !== undefined)
      return transient('BATON_TLS_REFUSED', words.says(name), { cause: error, fix: words.fix })
    ;({ cause } = cause)
  }
  return undefined
}
