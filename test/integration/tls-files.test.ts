// Files of certificates, keys and authorities: checked at the start, in words that mend them, and replaced under a running process.
import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import {
  createLogger,
  createTls,
  secureDatabaseUrls,
  watchDatabaseCertificates,
} from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { createTestAuthority, eventually } from '@baton/testkit'
import type { TestTlsFiles } from '@baton/testkit'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const DAY_MS = 86_400_000
const soon = (condition: () => boolean) =>
  eventually(condition, { deadlineMs: 10_000, describe: String(condition) })
const authority = await createTestAuthority()
const stranger = await createTestAuthority()
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})
afterAll(async () => {
  await authority[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
})

const NOTHING = {
  BATON_TLS_CERT_FILE: undefined,
  BATON_TLS_KEY_FILE: undefined,
  BATON_TLS_CA_FILE: undefined,
  BATON_ALLOW_PLAINTEXT: false,
}

function logging() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const logger = createLogger({ service: 'test', level: 'info', destination: { write } })
  return { logger, lines }
}

function read(files: Partial<TestTlsFiles>, now?: () => Date) {
  const { logger, lines } = logging()
  const metrics = createMetrics()
  const parts = { logger, metrics, everyMs: 5, ...(now === undefined ? {} : { now }) }
  const made = createTls({ ...NOTHING, ...files }, parts)
  stops.push(() => made.watch.stop())
  const shown = async (metric: string) =>
    (await metrics.expose()).body.match(new RegExp(`^${metric}.*$`, 'gm'))
  return { ...made, lines, shown }
}

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS)

const endOf = (kind: string, name: string, certificate: string) =>
  `baton_expiry_timestamp_seconds{kind="${kind}",name="${name}"} ${new X509Certificate(certificate).validToDate.getTime() / 1_000}`

const invalid = (message: RegExp) =>
  expect.objectContaining({
    kind: 'permanent',
    code: 'BATON_TLS_INVALID',
    message: expect.stringMatching(message),
    fix: expect.stringMatching(/^[A-Z].*\.$/),
  })

describe('at the start', () => {
  it('nothing is needed, and nothing is then different', () => {
    expect(read({}).tls.material).toEqual({})
  })

  it('a certificate needs its key, and a key its certificate', async () => {
    const { BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE } = await authority.files('half')
    expect(() => read({ BATON_TLS_CERT_FILE })).toThrow(
      invalid(/BATON_TLS_CERT_FILE is set and BATON_TLS_KEY_FILE is not/),
    )
    expect(() => read({ BATON_TLS_KEY_FILE })).toThrow(
      invalid(/BATON_TLS_KEY_FILE is set and BATON_TLS_CERT_FILE is not/),
    )
  })

  it('a file that is not there, and one that is something else, are named', async () => {
    const files = await authority.files('broken')
    expect(() => read({ ...files, BATON_TLS_CA_FILE: '/gone.pem' })).toThrow(
      invalid(/^BATON_TLS_CA_FILE \(\/gone\.pem\) cannot be read: ENOENT$/),
    )
    expect(() => read({ ...files, BATON_TLS_CA_FILE: '/dev/null' })).toThrow(
      invalid(/^BATON_TLS_CA_FILE \(\/dev\/null\) cannot be read: NO_REGULAR_FILE$/),
    )
    const certificate = { ...files, BATON_TLS_CERT_FILE: files.BATON_TLS_KEY_FILE }
    expect(() => read(certificate)).toThrow(
      invalid(/^BATON_TLS_CERT_FILE \(.*broken\.key\) holds no certificate/),
    )
    const key = { ...files, BATON_TLS_KEY_FILE: files.BATON_TLS_CERT_FILE }
    expect(() => read(key)).toThrow(invalid(/^BATON_TLS_KEY_FILE \(.*\) holds no private key/))
  })

  it('a key of another certificate is refused, and no word of it is told', async () => {
    const files = await authority.files('own')
    const other = await authority.files('other')
    const mixed = { ...files, BATON_TLS_KEY_FILE: other.BATON_TLS_KEY_FILE }
    expect(() => read(mixed)).toThrow(invalid(/the key of .*other\.key\) is not that of/))
    writeFileSync(files.BATON_TLS_KEY_FILE, '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n')
    expect(() => read(files)).toThrow(invalid(/^(?!.*c2VjcmV0)/))
  })

  it('a file that is written by half is refused, whatever stands whole before', async () => {
    const files = await authority.files('halves')
    const whole = readFileSync(files.BATON_TLS_CERT_FILE, 'utf8')
    const half = whole + stranger.certificate.slice(0, 200)
    writeFileSync(files.BATON_TLS_CERT_FILE, half)
    expect(() => read(files)).toThrow(invalid(/halves\.crt\) holds a certificate without its end/))
    writeFileSync(files.BATON_TLS_CERT_FILE, whole)
    writeFileSync(files.BATON_TLS_CA_FILE, half)
    expect(() => read(files)).toThrow(
      invalid(/^BATON_TLS_CA_FILE .* holds a certificate without its end/),
    )
  })

  it('what has ended, or has not begun, is refused with its time', async () => {
    const files = await authority.files('times', { days: 1 })
    const nowIs = (days: number) => () => inDays(days)
    expect(() => read(files, nowIs(2))).toThrow(invalid(/times\.crt\) has ended on \d{4}-/))
    expect(() => read(files, nowIs(-2))).toThrow(invalid(/begins only on \d{4}-/))
    const ca = { BATON_TLS_CA_FILE: files.BATON_TLS_CA_FILE }
    expect(() => read(ca, nowIs(400))).toThrow(invalid(/every certificate of .* has ended/))
  })

  it('the ends of the certificate and of its authority are shown', async () => {
    const files = await authority.files('shown', { days: 9 })
    expect(await read(files).shown('baton_expiry_timestamp_seconds')).toEqual([
      endOf('certificate', 'tls', readFileSync(files.BATON_TLS_CERT_FILE, 'utf8')),
      endOf('authority', 'tls', authority.certificate),
    ])
  })

  it('of several authorities the end that comes first is shown, also of one behind the own certificate', async () => {
    await using ending = await createTestAuthority({ days: 7 })
    const by = authority.certificate + ending.certificate
    const files = await authority.files('authorities', { by })
    const first = [endOf('authority', 'tls', ending.certificate)]
    expect(await read(files).shown('baton_expiry_timestamp_seconds.*authority')).toEqual(first)
    await authority.files('authorities')
    const own = readFileSync(files.BATON_TLS_CERT_FILE, 'utf8')
    writeFileSync(files.BATON_TLS_CERT_FILE, own + ending.certificate)
    expect(await read(files).shown('baton_expiry_timestamp_seconds.*authority')).toEqual(first)
  })
})

describe('what the addresses of databases name by themselves', () => {
  const urlOf = (files: Partial<TestTlsFiles>, host = 'db.example') => {
    const url = new URL(`postgres://baton@${host}/baton`)
    const named = {
      sslcert: files.BATON_TLS_CERT_FILE,
      sslkey: files.BATON_TLS_KEY_FILE,
      sslrootcert: files.BATON_TLS_CA_FILE,
    }
    for (const [name, path] of Object.entries(named))
      if (path !== undefined) url.searchParams.set(name, path)
    return url.href
  }

  function watchEnds(settings: Record<string, unknown>) {
    const { logger, lines } = logging()
    const metrics = createMetrics()
    const given = secureDatabaseUrls({ ...NOTHING, ...settings })
    const watch = watchDatabaseCertificates(given, { logger, metrics, everyMs: 5 })
    stops.push(() => watch.stop())
    const shown = async () =>
      (await metrics.expose()).body.match(/^baton_expiry_timestamp_seconds.*$/gm) ?? []
    const shows = (expected: readonly string[]) =>
      eventually(async () => String(await shown()) === String(expected), {
        deadlineMs: 10_000,
        describe: expected.join(),
      })
    return { watch, shown, shows, lines }
  }

  it('ends under the name of its setting, and a renewed one later', async () => {
    const files = await authority.files('database', { days: 9 })
    const { watch, shows } = watchEnds({ BATON_DATABASE_URL: urlOf(files) })
    await watch.start()
    const ends = () => [
      endOf('certificate', 'BATON_DATABASE_URL', readFileSync(files.BATON_TLS_CERT_FILE, 'utf8')),
      endOf('authority', 'BATON_DATABASE_URL', authority.certificate),
    ]
    const before = ends()
    await shows(before)
    await authority.files('database', { days: 80 })
    expect(ends()).not.toEqual(before)
    await shows(ends())
  })

  it('is told of once where it cannot be read, and the end that was read stays', async () => {
    const files = await authority.files('unreadable', { days: 9 })
    const { BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE } = files
    const url = urlOf({ BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE })
    const { watch, shown, shows, lines } = watchEnds({ BATON_AUDIT_DATABASE_URL: url })
    await watch.start()
    const certificate = readFileSync(BATON_TLS_CERT_FILE, 'utf8')
    const end = [endOf('certificate', 'BATON_AUDIT_DATABASE_URL', certificate)]
    await shows(end)
    rmSync(BATON_TLS_CERT_FILE)
    await soon(() => lines.length > 0)
    expect(lines).toEqual([
      expect.objectContaining({
        event: 'tls.files_refused',
        code: 'BATON_TLS_INVALID',
        reason: expect.stringMatching(
          /^sslcert of BATON_AUDIT_DATABASE_URL \(.*\) cannot be read: ENOENT$/,
        ),
      }),
    ])
    expect(await shown()).toEqual(end)
  })

  it('is nothing where it names the files of the process, the authorities of everybody, or none', async () => {
    const files = await authority.files('own-too')
    const { watch, shown } = watchEnds({
      ...files,
      BATON_DATABASE_URL: 'postgres://baton@db.example/baton',
      BATON_AUDIT_DATABASE_URL: `${urlOf({}, 'localhost')}?sslrootcert=system`,
      BATON_OTHER_DATABASE_URL: `${urlOf(await authority.files('unread'), 'localhost')}&sslmode=disable`,
      BATON_LOG_LEVEL: 'info',
    })
    await watch.start()
    await watch.stop()
    expect(await shown()).toEqual([])
  })
})

describe('under a running process', () => {
  it('new files are taken, and what is made of them is new', async () => {
    const { tls, watch, shown } = read(await authority.files('changing'))
    const before = { own: tls.toOwn(), others: tls.toOthers(), material: tls.material }
    expect(tls.toOwn()).toBe(before.own)
    let told = 0
    const end = tls.onChange(() => (told += 1))
    await watch.start()
    await authority.files('changing', { by: authority.certificate + stranger.certificate })
    await soon(() => tls.material.authorities?.length === 2)
    expect(tls.material.certificate).not.toBe(before.material.certificate)
    expect(tls.toOwn()).not.toBe(before.own)
    expect(tls.toOthers()).not.toBe(before.others)
    expect(told).toBeGreaterThan(0)
    end()
    const taken = told
    await authority.files('changing')
    await soon(() => tls.material.authorities?.length === 1)
    expect(told).toBe(taken)
    expect((await shown('baton_tls_reloads_total'))?.join()).toMatch(/taken"} [1-9]/)
  })

  it('what cannot be used changes nothing, is told once and counted, and heals', async () => {
    const files = await authority.files('breaking')
    const { tls, watch, lines, shown } = read(files)
    const before = tls.material
    await watch.start()
    const told = () => lines.filter(({ event }) => event === 'tls.files_refused')
    writeFileSync(files.BATON_TLS_CERT_FILE, before.certificate?.slice(0, 200) ?? '')
    await soon(() => told().length === 1)
    expect(told()[0]).toMatchObject({
      code: 'BATON_TLS_INVALID',
      reason: expect.stringMatching(/holds no certificate/),
    })
    const chain = `${before.certificate}${stranger.certificate}`
    writeFileSync(files.BATON_TLS_CERT_FILE, chain.slice(0, -100))
    await soon(() => told().length === 2)
    rmSync(files.BATON_TLS_KEY_FILE)
    await soon(() => told().length === 3)
    expect(told()[2]).toMatchObject({
      reason: expect.stringMatching(/BATON_TLS_KEY_FILE .* ENOENT/),
    })
    expect(tls.material).toBe(before)
    expect(await shown('baton_tls_reloads_total')).toContain(
      'baton_tls_reloads_total{outcome="refused"} 3',
    )
    await authority.files('breaking')
    await soon(() => tls.material !== before)
    expect(told()).toHaveLength(3)
  })
})
