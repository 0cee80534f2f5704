// Whoever is refused before their body was read hears why, however much of it they still send; within bounds.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createHttpServer, listenOn, ProblemError, readBodies } from './server.ts'

const LIMIT = 1_024
const refusal = (status: number, code: `BATON_${string}`) =>
  new ProblemError({ status, code, detail: 'no', fix: 'Do otherwise.' })

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

async function openServer() {
  const { server } = createHttpServer({
    bodyBytesMax: LIMIT,
    requestMs: 20_000,
    connections: { max: 10, perAddressMax: 10 },
    allErrors: false,
    problemOf: (error) =>
      error instanceof ProblemError ? error : refusal(413, 'BATON_BODY_TOO_LARGE'),
    routeUnknown: refusal(404, 'BATON_ROUTE_UNKNOWN'),
  })
  opened.push(server)
  readBodies(server, 'application/json', (bytes) => bytes)
  server.addHook('onRequest', async ({ headers }) => {
    if (headers.authorization === undefined) throw refusal(401, 'BATON_TOKEN_REFUSED')
  })
  server.post('/', async () => 'taken')
  return listenOn(server, { host: '127.0.0.1', port: 0 })
}

const post = (url: string, bytes: number, headers: Record<string, string>) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(bytes),
  })

it('a body far above the limit is answered, not reset', async () => {
  const url = await openServer()
  for (let n = 0; n < 3; n += 1) {
    const answer = await post(url, 8 * 1_048_576, { authorization: 'x' })
    expect(answer.status).toBe(413)
    expect(await answer.json()).toMatchObject({ code: 'BATON_BODY_TOO_LARGE' })
  }
})

it('so is one of a caller who is refused by name', async () => {
  const url = await openServer()
  for (let n = 0; n < 3; n += 1) expect((await post(url, 8 * 1_048_576, {})).status).toBe(401)
})

it('a body that never comes holds the answer up for about a second', async () => {
  const url = new URL(await openServer())
  const socket = connect(Number(url.port), url.hostname)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n{')
  const [heard] = await once(socket.setEncoding('utf8'), 'data')
  socket.destroy()
  expect(heard).toMatch(/^HTTP\/1\.1 401/)
})
