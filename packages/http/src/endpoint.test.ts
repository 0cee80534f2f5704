// Who names an address must not choose what a process of Baton connects to, nor how long it listens and to how much.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEndpoint, createEndpointFetch } from './endpoint.ts'
import type { Endpoint } from './endpoint.ts'

let port = 0
let requests = 0
let closed = 0
let handle: (request: IncomingMessage, response: ServerResponse) => void
const server = createServer((request, response) => {
  requests += 1
  response.once('close', () => void (closed += 1))
  request.resume()
  handle(request, response)
})
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const NEVER = new AbortController().signal

const post = (endpoint: Endpoint, { timeoutMs = 5_000, signal = NEVER } = {}) =>
  endpoint.post({ body: '{}', headers: {}, signal, timeoutMs }).finally(() => endpoint.close())

const own = (parts: Partial<Parameters<typeof createEndpoint>[0]> = {}) =>
  createEndpoint({
    url: `http://127.0.0.1:${port}/agent?one=1`,
    allowPrivate: true,
    answerBytesMax: 1_000,
    ...parts,
  })

const answering =
  (...addresses: readonly string[]): LookupFunction =>
  (_, options, callback) => {
    const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    if (options.all === true) callback(null, all)
    else callback(null, all[0]?.address ?? '', all[0]?.family)
  }

describe('an address that can never be called is refused when it is named', () => {
  it.each([
    'ftp://agent.example/',
    'file:///etc/passwd',
    'no url',
    'http://agent.example/',
    'https://name:password@agent.example/',
    'https://agent.example:25/',
    'https://agent.example:22/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::a9fe:a9fe]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00:ec2::254]/',
    'https://10.0.0.1:8443/',
    'https://0.0.0.0/',
  ])('%s', (url) => {
    expect(() => createEndpoint({ url, answerBytesMax: 1 })).toThrow(
      expect.objectContaining({ code: 'BATON_ADDRESS_REFUSED', kind: 'permanent' }),
    )
  })

  it('with a private network allowed only what is no HTTP', () => {
    const refused = { code: 'BATON_ADDRESS_REFUSED' }
    expect(() => own({ url: 'gopher://127.0.0.1/' })).toThrow(expect.objectContaining(refused))
    expect(() => own({ url: 'http://127.0.0.1:6379/' }).close()).not.toThrow()
    expect(() => own({ url: 'http://127.0.0.1:25/' })).toThrow(expect.objectContaining(refused))
  })
})

describe('a name that leads into a network of one’s own is refused as it is resolved', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['private', ['192.168.0.10']],
    ['IPv4 in IPv6', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['one of several', ['1.1.1.1', '10.0.0.1']],
    ['no address at all', []],
  ])('%s', async (_, addresses) => {
    const before = requests
    const endpoint = createEndpoint({
      url: `https://agent.example:${port}/`,
      answerBytesMax: 1_000,
      lookup: answering(...addresses),
    })
    await expect(post(endpoint)).rejects.toMatchObject({
      code: 'BATON_ADDRESS_REFUSED',
      kind: 'permanent',
    })
    expect(requests).toBe(before)
  })

  it('asks again for every connection: a name that changes its mind is refused then', async () => {
    let asked = 0
    const rebinding: LookupFunction = (name, options, callback) => {
      asked += 1
      answering(asked === 1 ? '192.0.2.1' : '127.0.0.1')(name, options, callback)
    }
    const url = `https://agent.example:${port}/`
    const endpoint = createEndpoint({ url, answerBytesMax: 1_000, lookup: rebinding })
    const call = () => endpoint.post({ body: '{}', headers: {}, signal: NEVER, timeoutMs: 1_000 })
    await expect(call()).rejects.toMatchObject({ code: 'BATON_ADDRESS_REFUSED' })
    await expect(call()).rejects.toMatchObject({ code: 'BATON_ADDRESS_REFUSED' })
    expect(asked).toBe(2)
    endpoint.close()
  })

  it('is connected to at the very address that was checked', async () => {
    handle = (request, response) => response.end(request.headers.host)
    let asked = 0
    const once: LookupFunction = (name, options, callback) => {
      asked += 1
      answering(asked === 1 ? '127.0.0.1' : '127.0.0.2')(name, options, callback)
    }
    const answer = await post(own({ url: `http://agent.example:${port}/`, lookup: once }))
    expect(Buffer.from(answer.bytes ?? '').toString()).toBe(`agent.example:${port}`)
    expect(asked).toBe(1)
  })
})

describe('an answer', () => {
  it('of 200 is read, with the path and the query that were named', async () => {
    handle = ({ url = '', method = '' }, response) => response.end(`${method} ${url}`)
    const answer = await post(own())
    expect(answer.status).toBe(200)
    expect(Buffer.from(answer.bytes ?? '').toString()).toBe('POST /agent?one=1')
  })

  it('of a redirection is an answer: nothing follows it', async () => {
    handle = (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
    const before = requests
    expect(await post(own())).toMatchObject({ status: 307, bytes: undefined })
    expect(requests).toBe(before + 1)
  })

  it('of a failure is not read, and says when to come again', async () => {
    handle = (_, response) => {
      response.writeHead(503, { 'retry-after': '7' })
      response.write('the text of somebody’s work')
    }
    expect(await post(own())).toEqual({ status: 503, retryAfterMs: 7_000, bytes: undefined })
  })

  it.each([
    ['a date', new Date(Date.now() + 60_000).toUTCString(), 50_000, 60_000],
    ['a date in the past', new Date(0).toUTCString(), 0, 0],
    ['a year', '31536000', 3_600_000, 3_600_000],
  ])('says it with %s', async (_, header, min, max) => {
    handle = (_request, response) => response.writeHead(429, { 'retry-after': header }).end()
    const { retryAfterMs } = await post(own())
    expect(retryAfterMs).toBeGreaterThanOrEqual(min)
    expect(retryAfterMs).toBeLessThanOrEqual(max)
  })

  it('that is too large is cut off', async () => {
    handle = (_, response) => {
      const more = setInterval(() => response.write('x'.repeat(65_536)), 1)
      response.once('close', () => clearInterval(more))
    }
    await expect(post(own())).rejects.toMatchObject({ code: 'BATON_ANSWER_TOO_LARGE' })
  })

  it.each([
    ['never begins', () => undefined],
    ['never ends', (response: ServerResponse) => void response.write('{')],
  ])('that %s ends with the time it has', async (_, begin) => {
    handle = (_request, response) => begin(response)
    await expect(post(own(), { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'BATON_ENDPOINT_TIMEOUT',
      kind: 'transient',
    })
  })

  it('that nobody waits for any more costs no connection', async () => {
    const gone = new AbortController()
    const before = closed
    handle = () => gone.abort(new Error('nobody waits'))
    await expect(post(own(), { signal: gone.signal })).rejects.toThrow('nobody waits')
    await expect.poll(() => closed).toBe(before + 1)
  })

  it('is asked for once more where a kept connection was closed under the request', async () => {
    let seen = 0
    handle = (request, response) => {
      seen += 1
      if (seen === 1) request.socket.destroy()
      else response.end('{}')
    }
    expect((await post(own())).status).toBe(200)
    expect(seen).toBe(2)
  })

  it('of nobody is transient', async () => {
    await expect(post(own({ url: 'http://127.0.0.1:1025/' }))).rejects.toMatchObject({
      code: 'BATON_ENDPOINT_UNAVAILABLE',
      kind: 'transient',
    })
  })

  it('over TLS needs somebody who speaks it', async () => {
    await expect(post(own({ url: `https://127.0.0.1:${port}/` }))).rejects.toMatchObject({
      code: 'BATON_TLS_REFUSED',
    })
  })
})

it('bounds what comes out of a compressed answer, not only what goes over the wire', async () => {
  handle = (_, response) => {
    const small = gzipSync(Buffer.alloc(5_000_000))
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(small)
  }
  const answerBytesMax = 1_000_000
  const { fetch, close } = createEndpointFetch({
    allowPrivate: true,
    answerBytesMax,
    silentMs: 5_000,
  })
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    await expect(answer.arrayBuffer()).rejects.toMatchObject({ code: 'BATON_ANSWER_TOO_LARGE' })
  } finally {
    close()
  }
})
