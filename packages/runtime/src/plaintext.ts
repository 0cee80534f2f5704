// Plain text stays on its machine: to other hosts, and from them, nothing is said without TLS unless a setting allows it.
import { BlockList, isIP } from 'node:net'
import { permanent } from './errors.ts'
import type { Tls } from './tls.ts'

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8)
LOOPBACK.addAddress('::1', 'ipv6')

/**
 * Whether a host, as an address or a URL names it, is this machine itself; so is the path of a socket. Of names only `localhost`
 * is, which the machine's own file of hosts says: what stands below it (`db.localhost`) many resolvers ask others for.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replaceAll(/^\[|\]$/g, '').toLowerCase()
  if (bare.startsWith('/') || bare === 'localhost') return true
  const version = isIP(bare)
  return version !== 0 && LOOPBACK.check(bare, version === 6 ? 'ipv6' : 'ipv4')
}

/**
 * Throws the permanent BATON_PLAINTEXT_REFUSED where `host` is another machine. Call it for a connection that is not encrypted;
 * `setting` names where the host stands, and `encrypted` what to write there instead.
 */
export function refusePlaintext(
  tls: Pick<Tls, 'allowPlaintext'>,
  { host, setting, encrypted }: { host: string; setting: string; encrypted: string },
): void {
  if (tls.allowPlaintext || isLoopback(host)) return
  throw permanent(
    'BATON_PLAINTEXT_REFUSED',
    `${setting} names ${host}, another machine, and no TLS`,
    { fix: `${encrypted}; BATON_ALLOW_PLAINTEXT=1 allows it as it is, for networks that encrypt.` },
  )
}

/** The same for a URL that is called. */
export function refusePlainUrl(
  tls: Pick<Tls, 'allowPlaintext'>,
  { url, setting }: { url: string; setting: string },
): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return
  refusePlaintext(tls, { host: hostname, setting, encrypted: 'Give it an https URL' })
}

/** The same for an address that a server listens on without TLS. */
export function refusePlainListening(
  tls: Pick<Tls, 'allowPlaintext' | 'material'>,
  { host, setting }: { host: string; setting: string },
): void {
  if (tls.material.certificate !== undefined || tls.allowPlaintext || isLoopback(host)) return
  throw permanent(
    'BATON_PLAINTEXT_REFUSED',
    `${setting} is ${host}, where other machines come in, and there is no certificate`,
    {
      fix: 'Set BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE, or 127.0.0.1; BATON_ALLOW_PLAINTEXT=1 allows it as it is, for networks that encrypt.',
    },
  )
}
