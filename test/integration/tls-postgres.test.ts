// Postgres over TLS, in real handshakes: to whom, by which authority, with which certificate, and replaced under load.
import {
  copyFile,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, isLoopback } from '@baton/runtime'
import { createPool, inTransaction } from '@baton/store'
import type { Pool } from '@baton/store'
import { createTestAuthority, eventually, startOwnPostgres } from '@baton/testkit'
import type { OwnPostgres, TestTlsFiles } from '@baton/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const DAY_MS = 86_400_000
const authority = await createTestAuthority()
const stranger = await createTestAuthority()
let postgres: OwnPostgres
let served: TestTlsFiles
const said: Record<string, unknown>[] = []
let admin: Pool
let own: TestTlsFiles
const pools: Pool[] = []
let stopped = false

beforeAll(async () => {
  served = await authority.files('postgres', { hosts: ['127.0.0.1'] })
  const write = (line: string) => void said.push(JSON.parse(line))
  postgres = await startOwnPostgres({
    tls: {
      certificateFile: served.BATON_TLS_CERT_FILE,
      keyFile: served.BATON_TLS_KEY_FILE,
      authorityFile: served.BATON_TLS_CA_FILE,
    },
    logger: createLogger({ service: 'test', destination: { write } }),
  })
  admin = createPool({ url: postgres.superuserUrl, applicationName: 'admin', connectionsMax: 1 })
  await admin.query({ text: `create role service login password 'p'` })
})
beforeEach(async () => {
  own = await authority.files('service')
})
afterEach(async () => {
  stopped = true
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
})
afterAll(async () => {
  await admin.end()
  await postgres.stop()
  await authority[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
})

/** As `service`, which the server lets in over TLS with a certificate alone. */
function urlOf(said: Record<string, string | undefined>, host = '127.0.0.1'): string {
  const url = new URL(`postgres://service:p@${host}:${postgres.port}/postgres`)
  for (const [name, value] of Object.entries(said))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

const filesOf = (files: TestTlsFiles) => ({
  sslmode: 'verify-full',
  sslrootcert: files.BATON_TLS_CA_FILE,
  sslcert: files.BATON_TLS_CERT_FILE,
  sslkey: files.BATON_TLS_KEY_FILE,
})

function poolOn(url: string): Pool {
  const pool = createPool({ url, applicationName: 'test', connectionsMax: 4 })
  pools.push(pool)
  return pool
}

interface Shown {
  readonly ssl: boolean
  readonly client: string | null
  readonly serial: string | null
}

const SHOWN = `select ssl, client_dn as client, client_serial::text as serial from pg_stat_ssl where pid = pg_backend_pid()`

const shownBy = async (url: string): Promise<Shown | undefined> =>
  (await poolOn(url).query<Shown>({ text: SHOWN })).rows[0]

/** The code of the driver or of Postgres, and its words. */
async function refusal(url: string): Promise<string> {
  const error = await poolOn(url)
    .query({ text: 'select 1' })
    .then(
      () => undefined,
      (caught: NodeJS.ErrnoException) => caught,
    )
  return error === undefined ? 'let in' : `${error.code ?? ''} ${error.message}`
}

/** The server is made to take another certificate, also one that a renewal would not be. */
async function serveWith(files: TestTlsFiles): Promise<void> {
  // Into the files that are there, which belong to the server's account.
  const put = async (path: string, name: string) =>
    writeFile(join(postgres.home, 'tls', name), await readFile(path))
  await put(files.BATON_TLS_CERT_FILE, 'server.crt')
  await put(files.BATON_TLS_KEY_FILE, 'server.key')
  await put(files.BATON_TLS_CA_FILE, 'ca.crt')
  await admin.query({ text: 'select pg_reload_conf()' })
}

describe('a connection', () => {
  it('is encrypted, to the named server, with a certificate of its own', async () => {
    expect(await shownBy(urlOf(filesOf(own)))).toMatchObject({ ssl: true, client: '/CN=service' })
  })

  it('is not made to a server of another authority, whatever mode its URL names', async () => {
    for (const sslmode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      const { BATON_TLS_CA_FILE: sslrootcert } = await stranger.files('stranger')
      expect(await refusal(urlOf({ ...filesOf(own), sslmode, sslrootcert }))).toMatch(
        /UNABLE_TO_VERIFY|SELF_SIGNED/,
      )
    }
    expect(await refusal(urlOf({ ...filesOf(own), sslrootcert: 'system' }))).toMatch(
      /UNABLE_TO_|SELF_SIGNED/,
    )
  })

  it('says where the authority belongs, and not that the server is away', async () => {
    const { BATON_TLS_CA_FILE: sslrootcert } = await stranger.files('stranger')
    const pool = poolOn(urlOf({ ...filesOf(own), sslrootcert }))
    await expect(inTransaction(pool, async () => undefined)).rejects.toMatchObject({
      code: 'BATON_DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^TLS with the operational database fails \((?:SELF|UNABLE)_/),
      fix: expect.stringContaining('BATON_TLS_CA_FILE'),
    })
  })

  it('is not made to a server of another name', async () => {
    expect(isLoopback('localhost')).toBe(true)
    for (const sslmode of ['require', 'verify-ca', 'verify-full'])
      expect(await refusal(urlOf({ ...filesOf(own), sslmode }, 'localhost'))).toMatch(
        /ERR_TLS_CERT_ALTNAME_INVALID/,
      )
  })

  it('is not let in without a certificate, nor with one of another authority', async () => {
    const { sslrootcert, sslmode } = filesOf(own)
    expect(await refusal(urlOf({ sslmode, sslrootcert }))).toMatch(/28000.*certificate/)
    const { sslcert, sslkey } = filesOf(await stranger.files('service'))
    expect(await refusal(urlOf({ sslmode, sslrootcert, sslcert, sslkey }))).not.toBe('let in')
  })

  it('is not let in in plain text', async () => {
    expect(await refusal(urlOf({}))).toMatch(/28000/)
    expect(await refusal(urlOf({ sslmode: 'disable' }))).toMatch(/28000/)
  })

  it('is not made to a server whose certificate has ended', async () => {
    const from = new Date(Date.now() - 31 * DAY_MS)
    await serveWith(await authority.files('ended', { hosts: ['127.0.0.1'], from }))
    await eventually(async () => /CERT_HAS_EXPIRED/.test(await refusal(urlOf(filesOf(own)))), {
      deadlineMs: 10_000,
      describe: 'the server shows its ended certificate',
    })
    await serveWith(await authority.files('next', { hosts: ['127.0.0.1'] }))
    const letIn = async () => (await refusal(urlOf(filesOf(own)))) === 'let in'
    await eventually(letIn, {
      deadlineMs: 10_000,
      describe: 'the server shows its new certificate',
    })
    expect(await shownBy(urlOf(filesOf(own)))).toMatchObject({ ssl: true })
  })
})

describe('the files of the embedded server', () => {
  it('are taken when they are renewed, and what cannot be used leaves it as it is', async () => {
    const next = await createTestAuthority()
    const by = authority.certificate + next.certificate
    const renewed = await next.certify('postgres', { hosts: ['127.0.0.1'] })
    const toNext = urlOf({
      ...filesOf(own),
      sslrootcert: (await next.files('x')).BATON_TLS_CA_FILE,
    })
    expect(await refusal(toNext)).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/)

    await writeFile(served.BATON_TLS_CA_FILE, by)
    await writeFile(served.BATON_TLS_KEY_FILE, renewed.key)
    await writeFile(served.BATON_TLS_CERT_FILE, renewed.certificate.slice(0, 200))
    const told = () => said.find(({ event }) => event === 'server.files_refused')
    await eventually(() => told() !== undefined, {
      deadlineMs: 10_000,
      describe: 'half a certificate is told of',
    })
    expect(told()).toMatchObject({ server: 'Postgres', code: 'BATON_TLS_INVALID' })
    expect(await refusal(urlOf(filesOf(own)))).toBe('let in')

    await writeFile(served.BATON_TLS_CERT_FILE, renewed.certificate)
    await eventually(async () => (await refusal(toNext)) === 'let in', {
      deadlineMs: 10_000,
      describe: 'the server shows its renewed certificate',
    })
    const modes = await Promise.all(
      ['server.key', 'server.crt', 'ca.crt'].map((name) => stat(join(postgres.home, 'tls', name))),
    )
    const { uid } = await stat(postgres.home)
    for (const { mode, uid: owner } of modes) expect([mode & 0o777, owner]).toEqual([0o600, uid])
    expect(await readdir(join(postgres.home, 'tls'))).toHaveLength(4)
    // As the tests behind this one find it.
    await authority.files('postgres', { hosts: ['127.0.0.1'] })
    await eventually(async () => (await refusal(urlOf(filesOf(own)))) === 'let in', {
      deadlineMs: 10_000,
      describe: 'the server shows the certificate of before',
    })
    await next[Symbol.asyncDispose]()
  })

  it.runIf(process.getuid?.() === 0)(
    'are never written elsewhere, whatever who runs as its account puts in their place (needs root)',
    async () => {
      const folder = join(postgres.home, 'tls')
      const elsewhere = await mkdtemp(join(tmpdir(), 'baton-elsewhere-'))
      await rename(folder, `${folder}.aside`)
      await symlink(elsewhere, folder)
      said.length = 0
      await authority.files('postgres', { hosts: ['127.0.0.1'] })
      await eventually(() => said.some(({ event }) => event === 'server.files_refused'), {
        deadlineMs: 10_000,
        describe: 'the link is told of',
      })
      expect(await readdir(elsewhere)).toEqual([])
      expect((await stat(elsewhere)).uid).toBe(0)
      await rm(folder)
      await rename(`${folder}.aside`, folder)
      await rm(elsewhere, { recursive: true })
    },
  )
})

describe('files that are replaced under load', () => {
  it('are taken by new connections, and nothing fails beyond the connections that end', async () => {
    const next = await createTestAuthority()
    const both = authority.certificate + next.certificate
    const pool = poolOn(urlOf(filesOf(own)))
    const before = await shownBy(urlOf(filesOf(own)))
    let [asked, failed] = [0, 0]
    stopped = false
    const load = Array.from({ length: 4 }, async () => {
      while (!stopped) {
        await pool.query({ text: 'select 1' }).then(
          () => (asked += 1),
          () => (failed += 1),
        )
      }
    })
    const moved = async (count = asked + 200) =>
      eventually(() => asked > count, { deadlineMs: 20_000, describe: 'the load goes on' })
    const endSessions = () =>
      admin.query({
        text: `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'service'`,
      })

    // Both authorities are trusted everywhere, then each side shows its new certificate, then the old authority goes.
    await writeFile(own.BATON_TLS_CA_FILE, both)
    await serveWith(await authority.files('postgres', { hosts: ['127.0.0.1'], by: both }))
    await moved()
    expect(failed).toBe(0)
    await serveWith(await next.files('postgres', { hosts: ['127.0.0.1'], by: both }))
    const fresh = await next.files('service')
    await copyFile(fresh.BATON_TLS_KEY_FILE, own.BATON_TLS_KEY_FILE)
    await moved()
    await copyFile(fresh.BATON_TLS_CERT_FILE, own.BATON_TLS_CERT_FILE)
    await writeFile(own.BATON_TLS_CA_FILE, next.certificate)
    await moved()
    expect(failed).toBe(0)
    await serveWith(await next.files('postgres', { hosts: ['127.0.0.1'] }))
    await endSessions()
    await moved()
    stopped = true
    await Promise.all(load)

    // Each of the four connections may have had one statement under way when it was ended.
    expect(failed).toBeLessThanOrEqual(4)
    const { rows } = await pool.query<Shown>({ text: SHOWN })
    expect(rows[0]).toMatchObject({ ssl: true, client: '/CN=service' })
    expect(rows[0]?.serial).not.toBe(before?.serial)
    expect(await readFile(own.BATON_TLS_CA_FILE, 'utf8')).toBe(next.certificate)
    await next[Symbol.asyncDispose]()
  })
})
