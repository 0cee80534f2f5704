// HTTP between processes over TLS, with real handshakes: who believes whom, in which words it fails, what a change of certificates
// costs, and what sockets cost that never get that far.
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import { createHttpClient, isReady } from '@baton/http/client'
import { createEndpoint } from '@baton/http/endpoint'
import { startOpsServer } from '@baton/http/ops'
import { createHttpServer, createServerOver, ProblemError } from '@baton/http/server'
import type { ServerTls } from '@baton/http/server'
import { createLogger, createTls, NO_TLS, readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { createTestAuthority, eventually } from '@baton/testkit'
import type { TestTlsFiles } from '@baton/testkit'
import { afterAll, afterEach, describe, expect, it } from 'vitest'

const DAY_MS = 86_400_000
const authority = await createTestAuthority()
const stranger = await createTestAuthority()
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await authority[Symbol.asyncDispose]()
  await stranger[Symbol.asyncDispose]()
})

const tlsOf = (files: Partial<TestTlsFiles>): Tls =>
  readTls({
    BATON_TLS_CERT_FILE: undefined,
    BATON_TLS_KEY_FILE: undefined,
    BATON_TLS_CA_FILE: undefined,
    BATON_ALLOW_PLAINTEXT: false,
    ...files,
  })

/** Of the authority, believing it alone. */
const own = async (name: string, wanted = {}) => tlsOf(await authority.files(name, wanted))
const believing = async () => {
  const { BATON_TLS_CA_FILE } = await authority.files('believing')
  return tlsOf({ BATON_TLS_CA_FILE })
}

interface Told {
  readonly lines: Record<string, unknown>[]
  readonly logger: ServerTls['logger']
}

function openLog(): Told {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  return { lines, logger: createLogger({ service: 'test', level: 'info', destination: { write } }) }
}

const PROBLEM = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'no',
  fix: 'No.',
})

async function serve(tls: Tls, options: Partial<ServerTls> & { perAddressMax?: number } = {}) {
  const { lines, logger } = openLog()
  const { server } = createHttpServer({
    bodyBytesMax: 1_000,
    requestMs: 5_000,
    connections: { max: 64, perAddressMax: options.perAddressMax ?? 64 },
    tls: { tls, clients: options.clients ?? 'certified', logger },
    allErrors: false,
    problemOf: () => PROBLEM,
    routeUnknown: PROBLEM,
  })
  server.get('/readyz', () => ({ status: 'ready' }))
  await server.listen({ host: '127.0.0.1', port: 0 })
  closers.push(() => {
    server.server.closeAllConnections()
    return server.close()
  })
  const { port } = server.server.address() as AddressInfo
  return { server: server.server, port, url: `https://127.0.0.1:${port}`, lines }
}

function clientOf(url: string, tls: Tls) {
  const client = createHttpClient({
    url,
    name: 'the other',
    timeoutMs: 5_000,
    tls: { tls, setting: 'BATON_OTHER_URL' },
    unavailable: { code: 'BATON_AUDIT_UNAVAILABLE' },
  })
  closers.push(() => client.close())
  return client
}

const ask = (url: string, tls: Tls) => clientOf(url, tls).json<unknown>('/readyz')

/** Transient: whoever tries again is let in once both sides have what they need. */
const refused = (message: RegExp) =>
  expect.objectContaining({
    kind: 'transient',
    code: 'BATON_TLS_REFUSED',
    message: expect.stringMatching(message),
    fix: expect.stringMatching(/^[A-Z].*\.$/),
  })

describe('two processes with certificates', () => {
  it('believe each other by the authority that both know', async () => {
    const { url } = await serve(await own('server'))
    const client = await own('client')
    expect(await ask(url, client)).toEqual({ status: 'ready' })
    expect(await isReady(url, 5_000, client)).toBe(true)
    expect(await isReady(url, 5_000, NO_TLS)).toBe(false)
  })

  it('are refused by an authority that the other does not know, on either side', async () => {
    const foreign = tlsOf(await stranger.files('foreign', { by: authority.certificate }))
    const { url } = await serve(foreign, { clients: 'any' })
    await expect(ask(url, await own('client'))).rejects.toThrow(
      refused(/authority .* not believed/),
    )
    const { url: strict } = await serve(await own('server'))
    await expect(ask(strict, foreign)).rejects.toThrow(refused(/showed is not accepted/))
  })

  it('are refused under another name', async () => {
    const { url } = await serve(await own('named', { hosts: ['auditor.example'] }))
    await expect(ask(url, await own('client'))).rejects.toThrow(refused(/other names/))
  })

  it('are refused after their end, on either side', async () => {
    const ended = async (name: string) => {
      const files = await authority.files(name, {
        from: new Date(Date.now() - 3 * DAY_MS),
        days: 1,
      })
      const { logger } = openLog()
      const now = () => new Date(Date.now() - 2.5 * DAY_MS)
      const settings = { ...files, BATON_ALLOW_PLAINTEXT: false }
      return createTls(settings, { logger, metrics: createMetrics(), now }).tls
    }
    const { url } = await serve(await ended('old-server'), { clients: 'any' })
    await expect(ask(url, await own('client'))).rejects.toThrow(refused(/the other has ended/))
    const { url: strict } = await serve(await own('server'))
    await expect(ask(strict, await ended('old-client'))).rejects.toThrow(
      refused(/not accepted \(CERT_HAS_EXPIRED\)/),
    )
  })
})

describe('a client without a certificate', () => {
  it('is told in words that it needs one', async () => {
    const { url, lines } = await serve(await own('server'))
    await expect(ask(url, await believing())).rejects.toThrow(refused(/showed no certificate/))
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'tls.handshake_refused', code: 'CLIENT_NOT_CERTIFIED' }),
    )
  })

  it('is served where callers have keys instead', async () => {
    const { url } = await serve(await own('server'), { clients: 'any' })
    expect(await ask(url, await believing())).toEqual({ status: 'ready' })
  })

  it('gets no further by taking up a session again', async () => {
    const { port } = await serve(await own('server'))
    const { session } = await speak({ port, ca: authority.certificate })
    const again = await speak({ port, ca: authority.certificate, session })
    expect(again.answer).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('reads no metrics, and is told whether a process is alive', async () => {
    const metrics = createMetrics()
    const { logger } = openLog()
    const tls: ServerTls = { tls: await own('server'), clients: 'shown', logger }
    const ops = await startOpsServer({ port: 0, metrics, ready: () => true, tls })
    closers.push(() => ops.close())
    const url = `https://127.0.0.1:${ops.port}`
    const client = clientOf(url, await believing())
    expect(await client.json('/readyz')).toEqual({ status: 'ready' })
    await expect(client.ask('/metrics')).rejects.toThrow(refused(/no certificate/))
    const { bytes } = await clientOf(url, await own('client')).ask('/metrics')
    expect(bytes.toString()).toContain('baton_')
  })
})

it('certificates for clients need somebody who vouches for them', async () => {
  const { BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE } = await authority.files('alone')
  const alone = tlsOf({ BATON_TLS_CERT_FILE, BATON_TLS_KEY_FILE })
  await expect(serve(alone)).rejects.toThrow(
    expect.objectContaining({ code: 'BATON_TLS_INVALID', fix: expect.stringMatching(/CA_FILE/) }),
  )
})

it('an old version of TLS is not spoken', async () => {
  const { port } = await serve(await own('server'), { clients: 'any' })
  const old = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const { error } = await speak({ port, ca: authority.certificate, ...old })
  expect(error).toMatch(/PROTOCOL/)
})

describe('one side that speaks no TLS', () => {
  it('is told by the port that it should', async () => {
    const { port, url } = await serve(await own('server'))
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: 'BATON_TLS_NEEDED' })
    expect(await ask(url, await own('client'))).toEqual({ status: 'ready' })
  })

  it('is told of by the client', async () => {
    const plain = createServerOver(undefined, {}, (_, response) => void response.end('{}'))
    const port = await listen(plain)
    await expect(ask(`https://127.0.0.1:${port}`, await own('client'))).rejects.toThrow(
      refused(/the other does not speak TLS/),
    )
  })

  it('on another machine is not called', async () => {
    expect(() => clientOf('http://auditor.example:8421', NO_TLS)).toThrow(
      expect.objectContaining({
        code: 'BATON_PLAINTEXT_REFUSED',
        message: expect.stringMatching(/^BATON_OTHER_URL names auditor\.example/),
      }),
    )
  })
})

describe('sockets that never finish their handshake', () => {
  it('give way to who comes, and are closed soon', { timeout: 20_000 }, async () => {
    const { port, url, server, lines } = await serve(await own('server'), { perAddressMax: 8 })
    const sockets: Socket[] = []
    for (let index = 0; index < 20; index += 1) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      await once(socket, 'connect')
      if (index % 2 === 0) socket.write(Buffer.from([0x16, 0x03, 0x01]))
    }
    const count = () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, open) => (error ? reject(error) : resolve(open))),
      )
    await eventually(async () => (await count()) <= 8, soon('at most eight'))
    expect(await ask(url, await own('client'))).toEqual({ status: 'ready' })
    await eventually(() => sockets.every((socket) => socket.destroyed), soon('all closed'))
    // However many, the log has a line a second at most.
    expect(lines.filter(({ event }) => event === 'tls.handshake_refused').length).toBeLessThan(12)
  })
})

describe('certificates that are replaced', () => {
  it(
    'under load cost no request, and new connections show the new one',
    { timeout: 60_000 },
    async () => {
      const settings = { ...(await authority.files('turning')), BATON_ALLOW_PLAINTEXT: false }
      const { logger } = openLog()
      const { tls, watch } = createTls(settings, { logger, metrics: createMetrics(), everyMs: 5 })
      await watch.start()
      closers.push(() => watch.stop())
      const { url, port } = await serve(tls)
      const shown = async () =>
        (await speak({ port, ...(await certified('reader')), ca: BOTH })).serial ?? ''
      const kept = clientOf(url, tls)
      let answers = 0
      let isOver = false
      const load = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          await kept.json('/readyz')
          // A connection of its own each time: a handshake with what both have at that moment.
          expect(await isReady(url, 5_000, tls)).toBe(true)
          answers += 1
        }
      })
      const seen = new Set([await shown()])
      // The authority itself is replaced as well: first both are believed, then the other signs, then it alone is believed.
      const steps = [
        () => authority.files('turning'),
        () => authority.files('turning', { by: BOTH }),
        () => movedTo(stranger, settings, BOTH),
        () => movedTo(stranger, settings, stranger.certificate),
      ]
      for (const step of steps) {
        const before = tls.material
        const from = answers
        await step()
        await eventually(
          () => tls.material !== before && answers > from + 8,
          soon('taken under load'),
        )
        seen.add(await shown().catch(() => 'refused'))
      }
      isOver = true
      await Promise.all(load)
      expect(seen.size).toBeGreaterThanOrEqual(3)
      expect((await speak({ port, ...(await certified('reader')), ca: BOTH })).answer).toMatch(
        / 403 /,
      )
    },
  )

  it('are taken by a client that was refused, which then goes on by itself', async () => {
    const { url } = await serve(await own('server'))
    const files = await stranger.files('late', { by: authority.certificate })
    const { logger } = openLog()
    const settings = { ...files, BATON_ALLOW_PLAINTEXT: false }
    const { tls, watch } = createTls(settings, { logger, metrics: createMetrics(), everyMs: 5 })
    await watch.start()
    closers.push(() => watch.stop())
    const client = clientOf(url, tls)
    await expect(client.json('/readyz')).rejects.toThrow(refused(/not accepted/))
    await movedTo(authority, settings, authority.certificate)
    await eventually(() => client.json('/readyz'), soon('let in'))
  })
})

describe('an endpoint that somebody named', () => {
  const call = async (url: string, tls: Tls) => {
    const endpoint = createEndpoint({ url, tls, allowPrivate: true, answerBytesMax: 100 })
    closers.push(() => endpoint.close())
    const signal = new AbortController().signal
    return endpoint.post({ body: '{}', headers: {}, signal, timeoutMs: 5_000 })
  }

  it('in the own network is believed by the own authority too, and shown the own certificate', async () => {
    const { url } = await serve(await own('agent'))
    const client = await own('client')
    expect(await call(`${url}/readyz`, client)).toMatchObject({ status: 404 })
    await expect(call(`${url}/readyz`, NO_TLS)).rejects.toThrow(refused(/not believed/))
  })
})

const BOTH = authority.certificate + stranger.certificate
const soon = (describe: string) => ({ deadlineMs: 15_000, describe })

async function certified(name: string): Promise<ConnectionOptions> {
  const { certificate: cert, key } = await authority.certify(name)
  return { cert, key }
}

/** Puts a certificate of another authority into the files that a process has. */
async function movedTo(by: typeof authority, files: TestTlsFiles, believed: string): Promise<void> {
  const { certificate, key } = await by.certify('moved')
  await writeFile(files.BATON_TLS_CA_FILE, believed)
  await writeFile(files.BATON_TLS_CERT_FILE, certificate)
  await writeFile(files.BATON_TLS_KEY_FILE, key)
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  closers.push(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** One request by hand: what comes back, the certificate that was shown, and a session to take up again. */
function speak(options: ConnectionOptions): Promise<{
  answer: string
  session?: Buffer
  serial?: string
  error?: string
}> {
  return new Promise((resolve) => {
    const got: { answer: string; session?: Buffer; serial?: string; error?: string } = {
      answer: '',
    }
    const socket = connectTls({ host: '127.0.0.1', ...options }, () => {
      got.serial = socket.getPeerCertificate().serialNumber
      socket.write('GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    })
    socket.on('session', (session) => (got.session = session))
    socket.on('data', (bytes) => (got.answer += bytes.toString()))
    socket.on('error', ({ code }: NodeJS.ErrnoException) => (got.error = code ?? 'no code'))
    socket.on('close', () => resolve(got))
  })
}
