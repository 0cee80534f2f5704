// A link that is worse than perfect still delivers every byte in order, until it resets.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { openLink } from './link.ts'
import type { Link } from './link.ts'

const opened: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function echoBehindLink(): Promise<{ link: Link; socket: Socket; peers: Socket[] }> {
  const peers: Socket[] = []
  const server = createServer((socket) => {
    peers.push(socket)
    socket.on('error', () => undefined).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const link = await openLink(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  opened.push(link, server)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(link.url).port) })
  socket.on('error', () => undefined)
  opened.push({ close: () => socket.destroy() })
  await once(socket, 'connect')
  return { link, socket, peers }
}

async function answerOf(socket: Socket, bytes: number): Promise<string> {
  let heard = ''
  for await (const chunk of socket) {
    heard += String(chunk)
    if (heard.length >= bytes) break
  }
  return heard
}

it('keeps the order while it delays, stalls and slices', async () => {
  const { link, socket } = await echoBehindLink()
  link.worsen({ latencyMs: 5, jitterMs: 20, stallShare: 0.02, sliceBytes: 1 })
  const text = 'abcdefghijklmnopqrstuvwxyz'
  socket.write(text)
  expect(await answerOf(socket, text.length)).toBe(text)
})

it('resets in the middle of an answer', async () => {
  const { link, socket } = await echoBehindLink()
  link.worsen({ sliceBytes: 1, resetAfterBytes: 3 })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
  socket.write('abcdef')
  await closed
  expect('abc'.startsWith(heard)).toBe(true)
})

it('silences one direction and ends nothing', async () => {
  const { link, socket } = await echoBehindLink()
  link.fallSilent('down')
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += String(chunk)))
  socket.write('lost')
  link.heal()
  const other = connect({ host: '127.0.0.1', port: Number(new URL(link.url).port) })
  opened.push({ close: () => other.destroy() })
  other.write('kept')
  expect(await answerOf(other, 4)).toBe('kept')
  expect(heard).toBe('')
  expect(socket.destroyed).toBe(false)
})

it('closes what is left of a silenced connection whose other end has gone', async () => {
  const { link, socket, peers } = await echoBehindLink()
  socket.write('x')
  await once(socket, 'data')
  link.fallSilent('both')
  const [peer] = peers
  const gone = new Promise((resolve) => peer?.once('close', resolve))
  peer?.destroy()
  await gone
  // Turns of the loop, in which the link hears of it.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  link.heal()
  const closed = once(socket, 'close')
  await link.close()
  await closed
  expect(socket.destroyed).toBe(true)
})
