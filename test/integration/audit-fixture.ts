// An audit store of its own for one test file: databases, a running auditor, a client, and a superuser.
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createLocalWrappingKey, createPool } from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import type { AuditUrls, Pool, WrappingKey } from '@baton/audit'
import type { AuditClient } from '@baton/audit/client'
import type { AuditEntry } from '@baton/ledger'
import { entryOf as bareEntryOf } from '@baton/ledger/fixtures/entry'
import {
  acquirePostgres,
  createAuditDatabases,
  fetchSigned,
  PEOPLE,
  spawnService,
  uniqueDatabaseName,
} from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createLogGuards } from './log-guards.ts'
import type { LogGuards } from './log-guards.ts'

export const APPEND_TOKEN = 'append-token-9516dfb15f51c7ee19a4d4'
export const READ_TOKEN = 'read-token-ecae13117d6f0584c25a9d'
export const ARCHIVE_TOKEN = 'archive-token-888d0ee361af3603736f32'
export const ERASE_TOKEN = 'erase-token-26eb25b14d930f9d5f59b2'

export interface RunningAuditor {
  readonly process: ServiceProcess
  readonly url: string
  readonly client: AuditClient
  /** The body of an authorised GET. */
  read<Body>(path: string): Promise<Body>
  post(body: string | object, headers?: Record<string, string>): Promise<Response>
  /** What an erasure route answers to the gateway's token, signed by whoever asks where that is asked for. */
  erase(path: string, body?: object): Promise<Response>
}

export interface AuditFixture {
  readonly urls: AuditUrls
  readonly databases: { readonly audit: string; readonly vault: string }
  readonly adminUrl: string
  /** The audit database as a superuser. */
  readonly superuser: Pool
  readonly guards: LogGuards
  /** The vault database as a superuser. */
  readonly vaultSuperuser: Pool
  readonly reader: Pool
  /** The auditor's Ed25519 key that signs batches: PKCS #8 DER in base64. */
  readonly signingKey: string
  /** The auditor's keys of the vault. */
  readonly vaultKeys: { readonly wrappingKey: WrappingKey; readonly lookupKey: string }
  /** Its wrapping key as the settings hold it. */
  readonly wrapping: string
  startAuditor(env?: Record<string, string>): Promise<RunningAuditor>
  close(): Promise<void>
}

const base64 = (bytes: Buffer): string => bytes.toString('base64')

export async function createAuditFixture(shards = 4): Promise<AuditFixture> {
  const { adminUrl } = await acquirePostgres()
  const databases = { audit: uniqueDatabaseName('audit'), vault: uniqueDatabaseName('vault') }
  const urls = await createAuditDatabases(adminUrl, databases, shards)
  const signingKey = generateKeyPairSync('ed25519').privateKey.export({
    format: 'der',
    type: 'pkcs8',
  })
  const wrapping = base64(randomBytes(32))
  const vaultKeys = {
    wrappingKey: createLocalWrappingKey(wrapping),
    lookupKey: base64(randomBytes(32)),
  }
  const environment = {
    BATON_AUDIT_WRITER_URL: urls.writer,
    BATON_AUDIT_READER_URL: urls.reader,
    BATON_VAULT_URL: urls.vault,
    BATON_AUDIT_ERASER_URL: urls.eraser,
    BATON_AUDIT_ERASE_TOKEN: ERASE_TOKEN,
    BATON_AUDIT_APPEND_TOKEN: APPEND_TOKEN,
    BATON_AUDIT_ARCHIVE_TOKEN: ARCHIVE_TOKEN,
    BATON_AUDIT_READ_TOKEN: READ_TOKEN,
    BATON_PEOPLE: PEOPLE.setting,
    BATON_AUDIT_SIGNING_KEY: base64(signingKey),
    BATON_AUDIT_WRAPPING_KEY: wrapping,
    BATON_AUDIT_LOOKUP_KEY: vaultKeys.lookupKey,
    BATON_AUDITOR_PORT: '0',
    BATON_ALLOW_UNSEALED: '1',
  }
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 2 })
  const pools = [
    onDatabase(adminUrl, databases.audit),
    onDatabase(adminUrl, databases.vault),
    urls.reader,
  ]
  const [superuser, vaultSuperuser, reader] = pools.map(open) as [Pool, Pool, Pool]
  const running: RunningAuditor[] = []
  return {
    urls,
    databases,
    adminUrl,
    superuser,
    guards: createLogGuards(superuser),
    vaultSuperuser,
    reader,
    signingKey: base64(signingKey),
    vaultKeys,
    wrapping,
    async startAuditor(env = {}) {
      const auditor = await startAuditor({ ...environment, ...env })
      running.push(auditor)
      return auditor
    },
    async close() {
      for (const { client } of running) client.close()
      await Promise.all(running.map(({ process }) => process.kill()))
      await Promise.all([superuser, vaultSuperuser, reader].map((pool) => pool.end()))
    },
  }
}

export function onDatabase(url: string, database: string): string {
  const target = new URL(url)
  target.pathname = `/${database}`
  return target.href
}

async function startAuditor(env: Record<string, string>): Promise<RunningAuditor> {
  const process = await spawnService({ main: 'services/auditor/src/main.ts', env })
  const url = /"event":"audit.listening","url":"([^"]+)"/.exec(process.output())?.[1] as string
  const client = createAuditClient({ url, token: APPEND_TOKEN, timeoutMs: 10_000 })
  return {
    process,
    url,
    client,
    async read<Body>(path: string) {
      const response = await fetch(url + path, {
        headers: { authorization: `Bearer ${READ_TOKEN}` },
      })
      return (await response.json()) as Body
    },
    erase: (path, body) =>
      fetchSigned(url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${ERASE_TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    post: (body, headers = {}) =>
      fetch(`${url}/v1/records`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${APPEND_TOKEN}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

/** An entry that passes every check and has a text; `changes` replaces members. */
export const entryOf = (changes: Partial<AuditEntry> = {}): AuditEntry =>
  bareEntryOf({
    segments: [{ kind: 'message', subject: null, text: 'the message without personal data' }],
    ...changes,
  })

interface ProblemBody {
  readonly code: string
  readonly detail?: string
  readonly pointer?: string
  readonly fix?: string
}

/** The RFC 9457 body of a refusal, with its status. */
export const problemOf = async (response: Response) => {
  const type = response.headers.get('content-type')
  if (type !== 'application/problem+json') throw new Error(`not a problem: ${type}`)
  return { status: response.status, ...((await response.json()) as ProblemBody) }
}
