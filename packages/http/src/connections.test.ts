// Connections stay within their bounds, idle ones give way in their order, and none with a request under way is closed.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnectionTable, limitConnections, networkOf } from './connections.ts'
import type { ConnectionLimit } from './connections.ts'

describe('the table of connections', () => {
  /** What the table should be: everything in one list, in the order in which it became what it is. */
  interface Row {
    readonly id: number
    readonly address: string
    isAuthenticated: boolean
    isBusy: boolean
  }

  const BOUNDS = { max: 6, perAddressMax: 3 }
  const command = fc.oneof(
    fc.record({ kind: fc.constant('open' as const), address: fc.constantFrom('a', 'b', 'c') }),
    fc.record({
      kind: fc.constant('change' as const),
      pick: fc.nat(),
      isAuthenticated: fc.boolean(),
      isBusy: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('close' as const), pick: fc.nat() }),
  )

  // Who gives way among these: the first that waits, those that are not authenticated before the others.
  const givesWay = (rows: readonly Row[]) =>
    rows.find((row) => !row.isBusy && !row.isAuthenticated) ?? rows.find((row) => !row.isBusy)

  it('is a list in which the first that waits gives way, whatever happens in which order', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const table = createConnectionTable<number>(BOUNDS)
        let rows: Row[] = []
        const told: object[] = []
        const right: object[] = []
        for (const [id, step] of commands.entries()) {
          if (step.kind === 'open') {
            const own = rows.filter(({ address }) => address === step.address)
            const isCrowded = own.length >= BOUNDS.perAddressMax
            const isFull = isCrowded || rows.length >= BOUNDS.max
            const closed = isFull ? givesWay(isCrowded ? own : rows) : undefined
            const isAdmitted = !isFull || closed !== undefined
            told.push(table.open(id, step.address))
            right.push({ isAdmitted, toClose: closed?.id })
            rows = rows.filter((row) => row !== closed)
            const { address } = step
            if (isAdmitted) rows.push({ id, address, isAuthenticated: false, isBusy: false })
            continue
          }
          const row = rows[step.pick % Math.max(1, rows.length)]
          if (row === undefined) continue
          rows = rows.filter((other) => other !== row)
          if (step.kind === 'close') {
            table.close(row.id)
            continue
          }
          const { isAuthenticated, isBusy } = step
          table.change(row.id, { isAuthenticated, isBusy })
          rows.push({ ...row, isAuthenticated, isBusy })
        }
        expect(told).toEqual(right)
      }),
    )
  })

  it('knows nothing of what it has closed', () => {
    const table = createConnectionTable<string>({ max: 1, perAddressMax: 1 })
    table.open('first', 'a')
    expect(table.open('second', 'a')).toEqual({ isAdmitted: true, toClose: 'first' })
    table.change('first', { isAuthenticated: true, isBusy: false })
    table.close('first')
    expect(table.open('third', 'b')).toEqual({ isAdmitted: true, toClose: 'second' })
  })
})

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:db8::9', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['1::', '1:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['', ''],
])('counts %j with %j', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

describe('a server with bounds', () => {
  let server: Server
  let limit: ConnectionLimit
  const sockets: Socket[] = []

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    server.close()
  })

  async function listen(
    handler: RequestListener,
    limits: Partial<Parameters<typeof limitConnections>[1]> = {},
  ): Promise<void> {
    server = createServer((request, response) => {
      if (request.headers.authorization !== undefined) limit.authenticated(response)
      handler(request, response)
    })
    limit = limitConnections(server, { max: 2, perAddressMax: 2, ...limits })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }

  async function open(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    sockets.push(socket)
    await once(socket, 'connect')
    return socket
  }

  const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
  const KNOWN = 'GET / HTTP/1.1\r\nhost: a\r\nauthorization: me\r\n\r\n'

  /** The first bytes of an answer, or that there was none because the connection was closed. */
  const answerOf = (socket: Socket) =>
    new Promise<string>((resolve) => {
      socket.once('data', (bytes) => resolve(String(bytes)))
      socket.once('close', () => resolve('closed'))
    })

  async function ask(socket: Socket, text = GET): Promise<string> {
    const answer = answerOf(socket)
    socket.write(text)
    return answer
  }

  const closed = (socket: Socket) =>
    socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', resolve))

  it('never closes a connection with a request under way, and refuses the next one instead', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: bothRun, resolve: noteBothRun } = Promise.withResolvers<void>()
    let running = 0
    await listen((_, response) => {
      running += 1
      if (running === 2) noteBothRun()
      void released.then(() => response.end('done'))
    })
    const answers = [await open(), await open()].map((socket, at) => ask(socket, [GET, KNOWN][at]))
    await bothRun
    for (let time = 0; time < 10; time += 1) expect(await ask(await open())).toBe('closed')
    release()
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1.1 200 /)
    expect(await ask(await open())).toMatch(/^HTTP\/1.1 200 /)
  })

  it('closes those that nobody has authenticated first, and then the others', async () => {
    await listen((_, response) => response.end())
    const known = await open()
    await ask(known, KNOWN)
    const stranger = await open()
    await ask(stranger)
    const next = await open()
    await ask(next, KNOWN)
    await closed(stranger)
    expect([known.closed, next.closed]).toEqual([false, false])
    await ask(await open())
    await closed(known)
    expect(next.closed).toBe(false)
  })

  describe.each([
    ['a body that does not come', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n'],
    ['an answer that nobody reads', GET.repeat(2)],
  ])('%s', (_, text) => {
    const fromKnown = text.replaceAll('host: a', 'host: a\r\nauthorization: me')

    it.each([
      ['is no request under way of somebody unknown', text, /^HTTP\/1.1 200 /],
      ['is one of somebody known', fromKnown, /^closed$/],
    ])('%s', async (_case, bytes, answered) => {
      const large = Buffer.alloc(16 * 1_048_576)
      const { promise: allAsked, resolve: noteAllAsked } = Promise.withResolvers<void>()
      let asked = 0
      await listen(({ method }, response) => {
        if (method === 'GET') response.end(large)
        asked += 1
        if (asked === 2) noteAllAsked()
      })
      for (const socket of [await open(), await open()]) {
        socket.pause()
        socket.write(bytes)
      }
      await allAsked
      expect(await ask(await open())).toMatch(answered)
      expect(await ask(await open())).toMatch(answered)
    })
  })

  it('lets those wait longer who are known, and says so', async () => {
    await listen((_, response) => response.end(), { unauthenticatedIdleMs: 50 })
    const known = await open()
    expect(await ask(known, KNOWN)).toContain(
      `Keep-Alive: timeout=${Math.floor(server.keepAliveTimeout / 1_000)}`,
    )
    const stranger = await open()
    expect(await ask(stranger)).toContain('keep-alive: timeout=0')
    await closed(stranger)
    expect(await ask(known)).toMatch(/^HTTP\/1.1 200 /)
  })
})
