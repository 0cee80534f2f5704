// Redis over TLS, in real handshakes: to whom, by which authority, with which certificate, and replaced under load.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { connect } from 'node:tls'
import { createLogger, createTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import {
  acquireRedis,
  createTestAuthority,
  describeWith,
  eventually,
  sendToRedis,
  startOwnRedis,
  uniqueName,
} from '@baton/testkit'
import type { OwnRedis, TestTlsFiles } from '@baton/testkit'
import { checkRedisSafety, createRedisTransport, jobIdOf, requireSafeRedis } from '@baton/transport'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { handledBy, jobs } from '../contract/transport-contract-kit.ts'

const DAY_MS = 86_400_000
const logger = createLogger({ service: 'test', level: 'silent' })
const NONE = {
  BATON_TLS_CERT_FILE: undefined,
  BATON_TLS_KEY_FILE: undefined,
  BATON_TLS_CA_FILE: undefined,
  BATON_ALLOW_PLAINTEXT: false,
}

it('is not spoken to in plain text on another machine, unless that is allowed by name', async () => {
  const url = 'redis://:secret@redis.example:6379'
  const refused = expect.objectContaining({
    code: 'BATON_PLAINTEXT_REFUSED',
    message: expect.not.stringContaining('secret'),
  })
  expect(() => createRedisTransport({ url, logger })).toThrow(refused)
  await expect(checkRedisSafety({ url })).rejects.toEqual(refused)
  await expect(requireSafeRedis({ url }, { allowUnsafe: true })).rejects.toEqual(refused)
  const { tls } = read({ BATON_ALLOW_PLAINTEXT: true })
  await expect(checkRedisSafety({ url, tls })).rejects.toMatchObject({
    code: 'BATON_QUEUE_UNAVAILABLE',
  })
})

const watches: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const watch of watches.splice(0)) await watch.stop()
})

function read(settings: Partial<TestTlsFiles> & { readonly BATON_ALLOW_PLAINTEXT?: boolean }) {
  const made = createTls(
    { ...NONE, ...settings },
    { logger, metrics: createMetrics(), everyMs: 20 },
  )
  watches.push(made.watch)
  return made
}

describeWith('a Redis that speaks TLS', await acquireRedis(), () => {
  let redis: OwnRedis
  let own: TestTlsFiles
  let served: TestTlsFiles
  const made: AsyncDisposable[] = []

  async function newAuthority() {
    const authority = await createTestAuthority()
    made.push(authority)
    return authority
  }
  let authority: Awaited<ReturnType<typeof newAuthority>>

  beforeAll(async () => {
    authority = await newAuthority()
    served = await authority.files('redis', { hosts: ['127.0.0.1'] })
    const started = await startOwnRedis({
      tls: {
        certificateFile: served.BATON_TLS_CERT_FILE,
        keyFile: served.BATON_TLS_KEY_FILE,
        authorityFile: served.BATON_TLS_CA_FILE,
      },
    })
    if ('unavailable' in started) throw new Error(started.unavailable)
    redis = started
    own = await authority.files('relay')
  })
  afterAll(async () => {
    await redis.stop()
    for (const one of made) await one[Symbol.asyncDispose]()
  })

  const command = (...words: string[]) => sendToRedis(redis.url, [words], read(own).tls)

  /** Its files are replaced, as by a renewal. */
  async function renew(files: TestTlsFiles): Promise<void> {
    await copyFile(files.BATON_TLS_KEY_FILE, served.BATON_TLS_KEY_FILE)
    await copyFile(files.BATON_TLS_CERT_FILE, served.BATON_TLS_CERT_FILE)
    await copyFile(files.BATON_TLS_CA_FILE, served.BATON_TLS_CA_FILE)
  }

  /** And it shows to new connections what they hold. */
  async function serveWith(files: TestTlsFiles): Promise<void> {
    await renew(files)
    const { serialNumber } = new X509Certificate(await readFile(files.BATON_TLS_CERT_FILE))
    await eventually(async () => (await shownSerial()) === serialNumber, {
      deadlineMs: 10_000,
      describe: 'the server shows its renewed certificate',
    })
  }

  async function shownSerial(): Promise<string | undefined> {
    const { hostname: host, port } = new URL(redis.url)
    const secureContext = read(own).tls.toOwn()
    const socket = connect({ host, port: Number(port), secureContext, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const shown = socket.getPeerX509Certificate()?.serialNumber
    socket.destroy()
    return shown
  }

  const why = (tls: Tls | undefined, url = redis.url): Promise<string> =>
    checkRedisSafety(tls === undefined ? { url } : { url, tls }).then(
      () => 'let in',
      ({ cause }: Error) => `${(cause as NodeJS.ErrnoException).code} ${(cause as Error).message}`,
    )

  it('is reached with its authority and a certificate', async () => {
    expect(await why(read(own).tls)).toBe('let in')
  })

  it('is not believed by another authority, nor under another name', async () => {
    const stranger = await newAuthority()
    const foreign = { ...own, BATON_TLS_CA_FILE: (await stranger.files('x')).BATON_TLS_CA_FILE }
    expect(await why(read(foreign).tls)).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED/)
    expect(await why(undefined)).toMatch(/UNABLE_TO_|SELF_SIGNED/)
    const named = redis.url.replace('127.0.0.1', 'localhost')
    expect(await why(read(own).tls, named)).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/)
  })

  it('lets nobody in without a certificate of its authority, nor in plain text', async () => {
    expect(await why(read({ BATON_TLS_CA_FILE: own.BATON_TLS_CA_FILE }).tls)).not.toBe('let in')
    const stranger = await newAuthority()
    const { BATON_TLS_CA_FILE } = own
    const foreign = { ...(await stranger.files('relay')), BATON_TLS_CA_FILE }
    expect(await why(read(foreign).tls)).not.toBe('let in')
    expect(await why(undefined, redis.url.replace('rediss', 'redis'))).not.toBe('let in')
  })

  it('is not believed once its certificate has ended', async () => {
    const whole = await authority.files('whole', { hosts: ['127.0.0.1'] })
    const from = new Date(Date.now() - 31 * DAY_MS)
    const ended = await authority.files('ended', { hosts: ['127.0.0.1'], from })
    await renew(ended)
    await command('CONFIG', 'SET', 'tls-cert-file', served.BATON_TLS_CERT_FILE)
    expect(await why(read(own).tls)).toMatch(/CERT_HAS_EXPIRED/)
    // What was renewed too late is taken all the same.
    await serveWith(whole)
    expect(await why(read(own).tls)).toBe('let in')
  })

  it('loses and repeats nothing while authorities and certificates of both sides are replaced', async () => {
    const { tls, watch } = read(own)
    await watch.start()
    const names = { url: redis.url, tls, logger, prefix: uniqueName('tls') }
    const transport = createRedisTransport(names)
    const queue = uniqueName('queue')
    const handled = handledBy(transport, queue)
    const sent: string[] = []
    let stopped = false
    const load = (async () => {
      while (!stopped) {
        const some = jobs(queue, 5)
        // As a relay does: what could not be published is published again, under the same id.
        for (;;) {
          const isTaken = await transport.publish(some).then(
            () => true,
            () => false,
          )
          if (isTaken || stopped) break
        }
        sent.push(...some.map(({ pointer }) => jobIdOf(pointer)))
      }
    })()
    const goesOn = async (count = handled.seen.length + 50) =>
      eventually(() => handled.seen.length > count, {
        deadlineMs: 20_000,
        describe: () => `${handled.seen.length} of more than ${count} handled`,
      })

    try {
      const next = await newAuthority()
      const by = authority.certificate + next.certificate
      await goesOn()
      await replace(own.BATON_TLS_CA_FILE, by)
      await serveWith(await authority.files('redis', { hosts: ['127.0.0.1'], by }))
      await goesOn()
      const fresh = await next.files('fresh', { by })
      await rename(fresh.BATON_TLS_KEY_FILE, own.BATON_TLS_KEY_FILE)
      await rename(fresh.BATON_TLS_CERT_FILE, own.BATON_TLS_CERT_FILE)
      const isNew = async () => tls.material.authorities?.length === 2
      await eventually(isNew, { deadlineMs: 10_000, describe: 'the new files are taken' })
      await serveWith(await next.files('next', { hosts: ['127.0.0.1'], by }))
      await command('CLIENT', 'KILL', 'TYPE', 'normal')
      await goesOn()
      await replace(own.BATON_TLS_CA_FILE, next.certificate)
      await eventually(() => tls.material.authorities?.length === 1, {
        deadlineMs: 10_000,
        describe: 'the old authority is gone',
      })
      await command('CLIENT', 'KILL', 'TYPE', 'normal')
      await goesOn()
    } finally {
      stopped = true
      await load
    }
    await handled.reaches(sent.length, 20_000)
    expect(handled.ids().toSorted()).toEqual(sent.toSorted())
    await transport.close()
  })

  async function replace(path: string, text: string): Promise<void> {
    await writeFile(`${path}.draft`, text)
    await rename(`${path}.draft`, path)
  }
})
