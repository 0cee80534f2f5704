// Whoever opens many sockets and says nothing locks nobody out.
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { createSocketLimit } from './sockets.ts'
import type { SocketLimit } from './sockets.ts'

const opened: { destroy(): void }[] = []
afterEach(() => opened.splice(0).forEach((one) => one.destroy()))

async function listening(limits: Parameters<typeof createSocketLimit>[0]) {
  const limit: SocketLimit = createSocketLimit(limits)
  const admitted: boolean[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    admitted.push(limit.admit(socket))
  }).listen(0, '127.0.0.1')
  opened.push({ destroy: () => server.close() })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const open = async (from = '127.0.0.1'): Promise<Socket> => {
    const before = admitted.length
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    opened.push(socket)
    socket.on('error', () => undefined).resume()
    await expect.poll(() => admitted.length).toBe(before + 1)
    return socket
  }
  const endOf = (socket: Socket) => ({
    remoteAddress: socket.localAddress,
    remotePort: socket.localPort,
  })
  return { limit, admitted, open, endOf }
}

const expectClosed = (socket: Socket) => expect.poll(() => socket.closed).toBe(true)

describe('sockets', () => {
  it('that nobody has authenticated give way, the longest open first; those that are proven stay', async () => {
    const { limit, admitted, open, endOf } = await listening({ max: 2, perAddressMax: 2 })
    const proven = await open()
    limit.authenticated(endOf(proven))
    const silent = await open()
    const next = await open()
    await expectClosed(silent)
    limit.authenticated(endOf(next))
    await expectClosed(await open())
    expect(admitted).toEqual([true, true, true, false])
    expect([proven.closed, next.closed]).toEqual([false, false])
  })

  it('of one address leave room for another', async () => {
    const { limit, admitted, open, endOf } = await listening({ max: 8, perAddressMax: 2 })
    for (let count = 0; count < 2; count += 1) limit.authenticated(endOf(await open()))
    await expectClosed(await open())
    await open('127.0.0.2')
    expect(admitted).toEqual([true, true, false, true])
  })

  it('are closed where nobody proves who they are, or where it is asked for', async () => {
    const { limit, open, endOf } = await listening({
      max: 8,
      perAddressMax: 8,
      unauthenticatedMs: 50,
    })
    const proven = await open()
    limit.authenticated(endOf(proven))
    await expectClosed(await open())
    expect(proven.closed).toBe(false)
    limit.close(endOf(proven))
    await expectClosed(proven)
  })
})
