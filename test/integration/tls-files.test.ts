// Files of certificates, keys and authorities: checked at the start, in words that mend them, and replaced under a running process.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createLogger, createTls } from '@baton/runtime'
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

function read(files: Partial<TestTlsFiles>, now?: () => Date) {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const logger = createLogger({ service: 'test', level: 'info', destination: { write } })
  const metrics = createMetrics()
  const parts = { logger, metrics, everyMs: 5, ...(now === undefined ? {} : { now }) }
  const made = createTls({ ...NOTHING, ...files }, parts)
  stops.push(() => made.watch.stop())
  const shown = async (metric: string) =>
    (await metrics.expose()).body.match(new RegExp(`^${metric}.*$`, 'gm'))
  return { ...made, lines, shown }
}

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
    const inDays = (days: number) => () => new Date(Date.now() + days * DAY_MS)
    expect(() => read(files, inDays(2))).toThrow(invalid(/times\.crt\) has ended on \d{4}-/))
    expect(() => read(files, inDays(-2))).toThrow(invalid(/begins only on \d{4}-/))
    const ca = { BATON_TLS_CA_FILE: files.BATON_TLS_CA_FILE }
    expect(() => read(ca, inDays(400))).toThrow(invalid(/every certificate of .* has ended/))
  })

  it('the end of the certificate is shown', async () => {
    const { shown, tls } = read(await authority.files('shown', { days: 9 }))
    const ends = tls.material.endsAt?.getTime() ?? 0
    expect(await shown('baton_expiry_timestamp_seconds')).toEqual([
      `baton_expiry_timestamp_seconds{kind="certificate",name="tls"} ${ends / 1_000}`,
    ])
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
