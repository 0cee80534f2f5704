// A bucket that does not answer, or answers without end, holds nobody: every attempt ends in its time.
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import * as sdk from '@aws-sdk/client-s3'
import { NO_TLS } from '@baton/runtime'
import { afterEach, describe, expect, it } from 'vitest'
import { createS3Client } from './s3-client.ts'

process.env['AWS_ACCESS_KEY_ID'] = 'test'
process.env['AWS_SECRET_ACCESS_KEY'] = 'test'

const REQUEST_MS = 250
const closers: (() => void)[] = []
afterEach(() => closers.splice(0).forEach((close) => close()))

/** Hears what comes, and answers each connection as it is told; counts them. */
async function bucket(answer: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    answer(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = createS3Client(sdk, {
    region: 'us-east-1',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setting: 'BATON_COLD_S3_ENDPOINT',
    attemptsMax: 2,
    requestMs: REQUEST_MS,
    connectMs: 1_000,
    tls: NO_TLS,
  })
  closers.push(() => {
    client.destroy()
    sockets.forEach((socket) => socket.destroy())
    server.close()
  })
  return { client, sockets }
}

/** A byte of this now and then, for as long as somebody listens. */
function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    socket.write(text[at % text.length] ?? '')
    at += 1
  }, REQUEST_MS / 10)
  socket.once('close', () => clearInterval(timer))
}

const PLACE = { Bucket: 'cold', Key: 'object' }
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\n'

async function endsLate(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await expect(work).rejects.toThrow()
  return performance.now() - began
}

describe('an attempt ends in its time at a bucket that', () => {
  it('takes what is sent and never answers', async () => {
    const { client, sockets } = await bucket((socket) => void socket.resume())
    const get = client.send(new sdk.GetObjectCommand(PLACE))
    await expect(get).rejects.toMatchObject({ name: 'TimeoutError' })
    // It was tried again, and neither connection is left.
    expect(sockets).toHaveLength(2)
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close')
  })

  it('never reads what is sent', async () => {
    const { client } = await bucket((socket) => void socket.pause())
    const put = new sdk.PutObjectCommand({ ...PLACE, Body: Buffer.alloc(4 * 1_048_576) })
    // A second for every MiB comes on top.
    expect(await endsLate(client.send(put, {}))).toBeLessThan(15_000)
  })

  it('answers a byte of its headers at a time', async () => {
    const { client } = await bucket((socket) =>
      drip(socket.resume(), `${HEAD}x-a: ${'a'.repeat(9_000)}`),
    )
    const took = await endsLate(client.send(new sdk.GetObjectCommand(PLACE)))
    expect(took).toBeLessThan(20 * REQUEST_MS)
  })

  it('answers a byte of an object at a time', async () => {
    const { client } = await bucket((socket) => {
      socket.resume().write(`${HEAD}content-length: 9000\r\n\r\n`)
      drip(socket, 'x')
    })
    const answer = await client.send(new sdk.GetObjectCommand(PLACE))
    const took = await endsLate(answer.Body?.transformToByteArray() ?? Promise.resolve())
    expect(took).toBeLessThan(20 * REQUEST_MS)
  })
})
