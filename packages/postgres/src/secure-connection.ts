// How a database URL says that a connection is encrypted and to whom, which the driver would read otherwise: every mode
// that encrypts verifies chain and name, and nothing reaches another machine in plain text that was not asked for.
import pg from 'pg'
import { isLoopback, permanent, readServerList, serversOfUrl } from '@baton/runtime'
import type { ServerAddress } from '@baton/runtime'
import { contextOf } from './tls-context.ts'

/** How a client connects, as the driver takes it. */
export type Connecting = Pick<pg.ClientConfig, 'connectionString' | 'ssl'>

/** The same for each server that a URL names, in its order; the driver knows of one only. */
export function secureConnections(url: string): readonly [Connecting, ...Connecting[]] {
  const read = readServerList(url)
  if ('problem' in read) throw invalid(`a database URL names wrong servers: ${read.problem}`)
  const parsed = URL.parse(read.value)
  const [first, ...others] = parsed === null ? [] : serversOfUrl(parsed)
  if (parsed === null || first === undefined || others.length === 0) return [secureConnection(url)]
  const attributes = parsed.searchParams.get('target_session_attrs')
  if (attributes !== null && !WRITABLE.includes(attributes))
    throw invalid(`a database URL says target_session_attrs=${attributes}`)
  const connectTo = ({ host, port }: ServerAddress): Connecting => {
    const one = new URL(parsed)
    one.searchParams.delete('target_session_attrs')
    one.searchParams.set('host', host)
    one.searchParams.set('port', port)
    return secureConnection(one.href)
  }
  return [connectTo(first), ...others.map(connectTo)]
}

/** What libpq calls the one thing that is ever wanted here. */
const WRITABLE = ['read-write', 'primary']

const invalid = (message: string) =>
  permanent('BATON_DATABASE_URL_INVALID', message, {
    fix: 'Write postgres://role@host:port,host:port/database; of several servers it is always the one that takes writes.',
  })

/**
 * Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` of the URL; the driver is told none of them, because it lets them
 * replace everything else. The files are read for each connection. Without `sslmode` only this machine is spoken to in plain
 * text. Throws BATON_PLAINTEXT_REFUSED, BATON_DATABASE_URL_INVALID and BATON_TLS_INVALID.
 */
export function secureConnection(url: string): Connecting {
  const { connectionString, parameters } = separate(url)
  const { sslrootcert, sslcert, sslkey } = parameters
  const mode = modeOf(parameters)
  if (mode === 'disabled') return { connectionString, ssl: false }
  if (mode === 'unverified') return { connectionString, ssl: { rejectUnauthorized: false } }
  if (mode === 'unsaid' && (sslrootcert ?? sslcert ?? sslkey) === undefined) {
    // The driver knows where it would connect, with all that it reads besides the URL.
    const { host } = new pg.Client({ connectionString, ssl: false })
    if (isLoopback(host)) return { connectionString }
    throw refused(host)
  }
  const caFile = sslrootcert === 'system' ? undefined : sslrootcert
  const context = contextOf({ caFile, certFile: sslcert, keyFile: sslkey })
  return {
    connectionString,
    ssl: {
      rejectUnauthorized: true,
      get secureContext() {
        return context()
      },
    },
  }
}

const PARAMETERS = [
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  // Asks the driver for modes that verify less; here none does.
  'uselibpqcompat',
] as const
type Parameters = Partial<Readonly<Record<(typeof PARAMETERS)[number], string>>>

function separate(url: string): { connectionString: string; parameters: Parameters } {
  const parsed = URL.parse(url)
  if (parsed === null) return { connectionString: url, parameters: {} }
  const parameters: Record<string, string> = {}
  for (const name of PARAMETERS) {
    const value = parsed.searchParams.get(name)
    if (value === null) continue
    parameters[name] = value
    parsed.searchParams.delete(name)
  }
  const isChanged = Object.keys(parameters).length > 0
  return { connectionString: isChanged ? parsed.href : url, parameters }
}

type Mode = 'unsaid' | 'disabled' | 'unverified' | 'verified'

const MODES: Readonly<Record<string, Mode>> = {
  disable: 'disabled',
  'no-verify': 'unverified',
  allow: 'verified',
  prefer: 'verified',
  require: 'verified',
  'verify-ca': 'verified',
  'verify-full': 'verified',
}
const SWITCHES: Readonly<Record<string, Mode>> = {
  '0': 'disabled',
  false: 'disabled',
  '1': 'verified',
  true: 'verified',
  'no-verify': 'unverified',
}

function modeOf({ sslmode, ssl }: Parameters): Mode {
  if (sslmode !== undefined) return MODES[sslmode] ?? unknownMode('sslmode', sslmode, MODES)
  if (ssl !== undefined) return SWITCHES[ssl] ?? unknownMode('ssl', ssl, SWITCHES)
  return 'unsaid'
}

function unknownMode(name: string, value: string, known: object): never {
  throw permanent('BATON_DATABASE_URL_INVALID', `a database URL says ${name}=${value}`, {
    fix: `Say one of ${Object.keys(known).join(', ')}; verify-full is what most of them mean here.`,
  })
}

const refused = (host: string) =>
  permanent('BATON_PLAINTEXT_REFUSED', `Postgres at ${host} would be reached in plain text`, {
    fix: 'Add sslmode=verify-full to its URL, with sslrootcert=FILE where its authority is none that everybody trusts; sslmode=disable where plain text is meant.',
  })
