// Everything between the processes of a campaign on TLS: each shows a certificate of its own and believes one authority. Links
// in between pass the bytes on.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { RequestOptions } from 'node:https'
import { json } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import type { ServerTls } from '@baton/embedded'
import { readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createTestAuthority } from '@baton/testkit'
import type { TestTlsFiles } from '@baton/testkit'

type Environment = Readonly<Record<string, string>>

export interface CampaignTls {
  /** What the campaign's own connections trust and show. */
  readonly own: Tls
  /** As PEM. */
  readonly authority: string
  readonly postgres: ServerTls
  readonly redis: ServerTls
  /** What a process is told, with every database and every service over TLS. */
  secured(service: string, environment: Environment): Environment
  /** The URL of a database for the campaign itself. */
  database(url: string): string
  /** The https URL of a service. */
  service(url: string): string
  /** What a service answers to the campaign, as JSON. */
  ask(url: URL, headers: Environment): Promise<unknown>
  end(): Promise<void>
}

/** The clocks of processes are moved by up to ten minutes: to them too the certificates have begun. */
const LIFE = { from: new Date(Date.now() - 86_400_000), days: 30 }

export async function prepareTls(services: readonly string[]): Promise<CampaignTls> {
  const authority = await createTestAuthority()
  const files = new Map<string, TestTlsFiles>()
  for (const name of [...services, 'postgres', 'redis', 'campaign'])
    files.set(name, await authority.files(name, LIFE))
  const of = (name: string): TestTlsFiles => {
    const own = files.get(name)
    if (own === undefined) throw new Error(`the campaign has no certificate for ${name}`)
    return own
  }
  // Whatever in this process asks a gateway believes the authority.
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
  const own = readTls({ ...of('campaign'), BATON_ALLOW_PLAINTEXT: false })
  return {
    own,
    authority: authority.certificate,
    postgres: serverTls(of('postgres')),
    redis: serverTls(of('redis')),
    secured(service, environment) {
      const told = Object.entries(environment).map(([name, value]) => [name, overTls(name, value)])
      return { ...(Object.fromEntries(told) as Environment), ...of(service) }
    },
    database(url) {
      const secured = new URL(verified(url))
      const files = of('campaign')
      secured.searchParams.set('sslrootcert', files.BATON_TLS_CA_FILE)
      secured.searchParams.set('sslcert', files.BATON_TLS_CERT_FILE)
      secured.searchParams.set('sslkey', files.BATON_TLS_KEY_FILE)
      return secured.href
    },
    service: secure,
    ask: (url, headers) => ask(url, { headers, secureContext: own.toOwn() }),
    end: () => authority[Symbol.asyncDispose](),
  }
}

const ANSWER_MAX_MS = 60_000

/** With a certificate, which `fetch` does not show. */
async function ask(
  url: URL,
  options: RequestOptions & Pick<ConnectionOptions, 'secureContext'>,
): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_MAX_MS)
  const request = get(new URL(secure(url.href)), { ...options, signal })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  return json(answer)
}

function overTls(name: string, value: string): string {
  if (value.startsWith('postgres://')) return verified(value)
  return name === 'BATON_AUDIT_URL' ? secure(value) : value
}

function verified(url: string): string {
  const secured = new URL(url)
  secured.searchParams.set('sslmode', 'verify-full')
  return secured.href
}

const secure = (url: string): string => url.replace(/^http:/, 'https:')

const serverTls = (files: TestTlsFiles): ServerTls => ({
  certificateFile: files.BATON_TLS_CERT_FILE,
  keyFile: files.BATON_TLS_KEY_FILE,
  authorityFile: files.BATON_TLS_CA_FILE,
})
