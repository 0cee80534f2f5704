// What the other side answers comes out as it was meant, whatever it answers.
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createHttpClient, isReady } from './client.ts'
import type { HttpClient } from './client.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function listen(server: Server, scheme = 'http'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function clientOf(url: string, timeoutMs = 2_000): HttpClient {
  const unavailable = { code: 'BATON_OTHER_UNAVAILABLE', fix: 'Start it.' } as const
  const client = createHttpClient({
    url,
    name: 'the other',
    token: 'secret',
    timeoutMs,
    unavailable,
  })
  closers.push(() => client.close())
  return client
}

const serve = async (answer: RequestListener, timeoutMs?: number): Promise<HttpClient> =>
  clientOf(await listen(createServer(answer)), timeoutMs)

const problem = { code: 'BATON_NO', detail: 'no', fix: 'Ask.', pointer: '/a' }

describe('the client', () => {
  it('sends its token and JSON, and answers JSON', async () => {
    const client = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body) => {
        const { authorization, 'content-type': type } = request.headers
        response.end(JSON.stringify({ method: request.method, authorization, type, body }))
      })
    })
    const said = { authorization: 'Bearer secret', type: 'application/json' }
    expect(await client.json('/x', { body: { a: 1 } })).toEqual({
      ...said,
      method: 'POST',
      body: '{"a":1}',
    })
    expect(await client.json('/x', { method: 'PUT', body: '[2]' })).toEqual({
      ...said,
      method: 'PUT',
      body: '[2]',
    })
  })

  it.each([
    [400, 'permanent'],
    [409, 'permanent'],
    [408, 'transient'],
    [429, 'transient'],
    [500, 'transient'],
    [503, 'transient'],
  ])('turns a problem with %i into a %s error in its words', async (status, kind) => {
    const client = await serve((_, response) =>
      response.writeHead(status).end(JSON.stringify(problem)),
    )
    const { code, detail: message, fix, pointer } = problem
    await expect(client.ask('/')).rejects.toMatchObject({
      status,
      kind,
      code,
      message,
      fix,
      pointer,
    })
  })

  it.each([
    [404, '<html>'],
    [502, ''],
    [403, 'null'],
    [400, '{"code":"made up"}'],
    [302, ''],
    [200, '<html>'],
  ])('has a code of its own for %i with a body that is not Baton’s: %s', async (status, body) => {
    const client = await serve((_, response) => response.writeHead(status).end(body))
    const code = 'BATON_OTHER_UNAVAILABLE'
    await expect(client.json('/')).rejects.toMatchObject({ code })
  })

  it('waits no longer than it may, and says what to do', async () => {
    const silent = await serve(() => undefined, 20)
    const gone = clientOf('http://127.0.0.1:1')
    for (const client of [silent, gone]) {
      const error = { kind: 'transient', code: 'BATON_OTHER_UNAVAILABLE', fix: 'Start it.' }
      await expect(client.ask('/')).rejects.toMatchObject(error)
      await expect(client.ask('/')).rejects.not.toThrow(/secret/)
    }
  })

  it('repeats only what may arrive twice', async () => {
    let asked = 0
    const client = await serve((request, response) => {
      asked += 1
      if (asked % 2 === 1) request.socket.resetAndDestroy()
      else response.end('{}')
    })
    expect(await client.json('/', { body: {}, repeatable: true })).toEqual({})
    await expect(client.json('/', { body: {} })).rejects.toThrow('the other did not answer')
    expect(asked).toBe(3)
  })
})

it('asks whether a process is ready, and takes silence for no', async () => {
  const url = await listen(
    createServer(({ url: path }, response) =>
      response.writeHead(path === '/readyz' ? 200 : 404).end(),
    ),
  )
  expect(await isReady(url, 2_000)).toBe(true)
  expect(await isReady('http://127.0.0.1:1', 2_000)).toBe(false)
})
