// What travels between machines is encrypted, and to whom is known: by the URL, by the authority of the settings, or
// not at all where plain text was allowed by name.
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import pg from 'pg'
import { permanent } from '@baton/runtime'

/** PEM, as it stands in files now. */
interface Material {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

/** What a process trusts and shows, asked anew for every connection. */
export interface Trust {
  readonly allowPlaintext: boolean
  material(): Material
}

/** How a client connects, as the driver takes it. */
type Connecting = Pick<pg.ClientConfig, 'connectionString' | 'ssl'>

const NOTHING: Material = { ca: undefined, cert: undefined, key: undefined }
export const NO_TRUST: Trust = { allowPlaintext: false, material: () => NOTHING }

/**
 * Takes from the URL what concerns TLS, because the driver lets it replace everything else, and answers how to connect.
 * Every mode that encrypts verifies the chain and the name; `no-verify`, which verifies nothing, counts as plain text. Throws
 * BATON_PLAINTEXT_REFUSED where that would reach another machine, and BATON_DATABASE_URL_INVALID.
 */
export function secureConnection(url: string, trust: Trust = NO_TRUST): Connecting {
  const { connectionString, parameters } = separate(url)
  const mode = modeOf(parameters)
  // The driver knows where it would connect, with all that it reads besides the URL.
  const { host } = new pg.Client({ connectionString, ssl: false })
  const isNear = host.startsWith('/') || isLoopback(host)
  const { sslrootcert, sslcert, sslkey } = parameters
  const isAsked = (sslrootcert ?? sslcert ?? sslkey) !== undefined
  const isOffered = !isNear && trust.material().ca !== undefined
  if (mode === 'verified' || (mode === 'unsaid' && (isAsked || isOffered)))
    return { connectionString, ssl: verifying(trust, parameters) }
  if (!isNear && !trust.allowPlaintext) throw refused(host, mode)
  if (mode === 'unverified') return { connectionString, ssl: { rejectUnauthorized: false } }
  return mode === 'disabled' ? { connectionString, ssl: false } : { connectionString }
}

/** Names and addresses that no other machine has. */
function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase()
  if (isIP(name) === 4) return name.startsWith('127.')
  return name === '::1' || name === 'localhost' || name.endsWith('.localhost')
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

/** Read for each connection, so that a new one has what stands in the files by then. Files of the URL go before those of the settings. */
function verifying(
  trust: Trust,
  { sslrootcert, sslcert, sslkey }: Parameters,
): pg.ClientConfig['ssl'] {
  const isNamed = sslcert !== undefined || sslkey !== undefined
  return {
    rejectUnauthorized: true,
    get ca() {
      if (sslrootcert === 'system') return undefined
      return sslrootcert === undefined ? trust.material().ca : readNamed(sslrootcert)
    },
    get cert() {
      return isNamed ? readNamed(sslcert) : trust.material().cert
    },
    get key() {
      return isNamed ? readNamed(sslkey) : trust.material().key
    },
  }
}

function readNamed(path: string | undefined): string {
  try {
    return readFileSync(path ?? '', 'utf8')
  } catch (cause) {
    throw permanent(
      'BATON_DATABASE_URL_INVALID',
      `a database URL names ${path}, which cannot be read`,
      {
        cause,
        fix: 'Mend sslrootcert, sslcert and sslkey of the URL, or leave them out: BATON_TLS_CA_FILE, BATON_TLS_CERT_FILE and BATON_TLS_KEY_FILE say the same.',
      },
    )
  }
}

function refused(host: string, mode: Mode) {
  const how = mode === 'unverified' ? 'without knowing to whom' : 'in plain text'
  return permanent('BATON_PLAINTEXT_REFUSED', `Postgres at ${host} would be spoken to ${how}`, {
    fix: 'Add ?sslmode=verify-full to its URL, and name the authority of its certificate in BATON_TLS_CA_FILE where it is none that everybody trusts. BATON_ALLOW_PLAINTEXT=1 allows it all the same.',
  })
}
