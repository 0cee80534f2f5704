// A database on another machine is reached over TLS, or not at all where plain text was not allowed by name: settled once
// for all URLs of a process, before anything is opened.
import { permanent } from './errors.ts'
import { isLoopback } from './plaintext.ts'
import { serversOfUrl } from './server-list.ts'
import type { Settings } from './settings.ts'
import type { TLS_SETTINGS } from './tls.ts'

type TlsSettings = Settings<typeof TLS_SETTINGS>

/**
 * The same settings, in which the URL of every database also says how it is secured: `sslmode`, and the files of the TLS
 * settings where it names none. What it says itself stands. Throws one BATON_PLAINTEXT_REFUSED that names every setting by
 * which another machine would be reached in plain text, or without knowing whose it is.
 */
export function secureDatabaseUrls<Values extends TlsSettings>(
  settings: Values,
  { PGHOST: usualHost = '' }: Readonly<Record<string, string | undefined>> = process.env,
): Values {
  const read = Object.entries(settings).map(
    ([name, value]) => [name, secured(name, value, { tls: settings, usualHost })] as const,
  )
  const problems = read.flatMap(([, one]) => ('problem' in one ? [one.problem] : []))
  if (problems.length > 0) throw refused(problems)
  return Object.fromEntries(
    read.map(([name, one]) => [name, 'value' in one ? one.value : undefined]),
  ) as Values
}

type Read = { readonly value: unknown } | { readonly problem: string }

interface Surroundings {
  readonly tls: TlsSettings
  /** Where the driver goes for a URL without a host; empty where that is this machine. */
  readonly usualHost: string
}

function secured(name: string, value: unknown, { tls, usualHost }: Surroundings): Read {
  const url = databaseUrlOf(value)
  if (url === undefined) return { value }
  const { searchParams: said } = url
  const elsewhere = serversOfUrl(url)
    .map(({ host }) => (host === '' ? usualHost : host))
    .filter((one) => one !== '' && !isLoopback(one))
  const host = elsewhere.join(' and ')
  const isFree = elsewhere.length === 0 || tls.BATON_ALLOW_PLAINTEXT
  const mode = unverifiedMode(url)
  if (mode !== undefined)
    return isFree ? { value } : { problem: `${name} names ${host}, and verifies nothing: ${mode}` }
  const isSaid = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey'].some((one) => said.has(one))
  if (isSaid) return { value: withFiles(url, tls) }
  if (elsewhere.length === 0) return { value }
  if (tls.BATON_TLS_CA_FILE !== undefined) return { value: withFiles(url, tls) }
  if (!isFree) return { problem: `${name} names ${host}, another machine, and no TLS` }
  said.set('sslmode', 'disable')
  return { value: url.href }
}

/** Undefined where the value of a setting is none. */
export function databaseUrlOf(value: unknown): URL | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol) ? url : undefined
}

/** How the URL says that nothing is encrypted, or to whomever: its files are not read then. */
export function unverifiedMode({ searchParams: said }: URL): string | undefined {
  const mode = said.get('sslmode') ?? said.get('ssl')
  return mode !== null && UNVERIFIED.includes(mode) ? mode : undefined
}

/** What `sslmode` and `ssl` say where nothing is encrypted, or to whomever. */
const UNVERIFIED = ['disable', 'no-verify', '0', 'false']

function withFiles(url: URL, tls: TlsSettings): string {
  const { searchParams: said } = url
  if (!said.has('sslmode') && !said.has('ssl')) said.set('sslmode', 'verify-full')
  if (!said.has('sslrootcert') && tls.BATON_TLS_CA_FILE !== undefined)
    said.set('sslrootcert', tls.BATON_TLS_CA_FILE)
  const { BATON_TLS_CERT_FILE: certificate, BATON_TLS_KEY_FILE: key } = tls
  const isShown = said.has('sslcert') || said.has('sslkey')
  if (!isShown && certificate !== undefined && key !== undefined) {
    said.set('sslcert', certificate)
    said.set('sslkey', key)
  }
  return url.href
}

const refused = (problems: readonly string[]) =>
  permanent('BATON_PLAINTEXT_REFUSED', problems.join('; '), {
    fix: 'Add sslmode=verify-full to the URL, and name the authority of the database’s certificate in BATON_TLS_CA_FILE where it is none that everybody trusts; BATON_ALLOW_PLAINTEXT=1 allows it as it is, for networks that encrypt.',
  })
