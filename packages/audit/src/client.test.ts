// The client splits, repeats and classifies so that its caller only sees receipts or a clear error.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { AuditEntry } from '@baton/ledger'
import { createAuditClient } from './client.ts'
import type { AuditClient } from './client.ts'

type Answer = (body: { entries: unknown[] }, response: ServerResponse, pass: number) => void

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function clientOf(answer: Answer, timeoutMs = 500): Promise<AuditClient> {
  let pass = 0
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    answer(JSON.parse(Buffer.concat(chunks).toString()) as { entries: unknown[] }, response, pass++)
  }
  const server = createServer((request, response) => void read(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = createAuditClient({ url: `http://127.0.0.1:${port}`, token: 't', timeoutMs })
  closers.push(() => {
    client.close()
    server.closeAllConnections()
    server.close()
  })
  return client
}

const entry = (text = ''): AuditEntry => ({ segments: [{ text }] }) as unknown as AuditEntry
const echo: Answer = ({ entries }, response) => {
  response.end(JSON.stringify({ receipts: entries.map((_, seq) => ({ seq })) }))
}

describe('createAuditClient', () => {
  test('answers receipts in order over several requests of 256 entries', async () => {
    const sizes: number[] = []
    const client = await clientOf((body, response, pass) => {
      sizes.push(body.entries.length)
      echo(body, response, pass)
    })
    expect(await client.append(Array.from({ length: 600 }, () => entry()))).toHaveLength(600)
    expect(sizes).toEqual([256, 256, 88])
    expect(await client.append([])).toEqual([])
  })

  test('splits requests of more than 8 MiB', async () => {
    const sizes: number[] = []
    const client = await clientOf((body, response, pass) => {
      sizes.push(body.entries.length)
      echo(body, response, pass)
    }, 5_000)
    await client.append(Array.from({ length: 5 }, () => entry('x'.repeat(3 * 1024 * 1024))))
    expect(sizes).toEqual([2, 2, 1])
  })

  test('repeats once when a kept connection was closed under it', async () => {
    const client = await clientOf((body, response, pass) => {
      if (pass === 0) response.socket?.resetAndDestroy()
      else echo(body, response, pass)
    })
    expect(await client.append([entry()])).toHaveLength(1)
  })

  test.each([
    [503, 'transient', 'BATON_OVERLOADED'],
    [500, 'transient', 'BATON_OVERLOADED'],
    [429, 'transient', 'BATON_OVERLOADED'],
    [409, 'permanent', 'BATON_OVERLOADED'],
    [400, 'permanent', 'BATON_OVERLOADED'],
  ])('turns %i into a %s error with the code of the problem', async (status, kind, code) => {
    const client = await clientOf((_, response) => {
      response.statusCode = status
      response.end(JSON.stringify({ code, detail: 'd', pointer: '/entries/3', fix: 'f' }))
    })
    const message = expect.stringContaining('/entries/3') as string
    await expect(client.append([entry()])).rejects.toMatchObject({ kind, code, message, fix: 'f' })
  })

  test('a refusal that is no problem document still has a code', async () => {
    const client = await clientOf((_, response) => {
      response.statusCode = 404
      response.end('<html>')
    })
    await expect(client.append([entry()])).rejects.toMatchObject({ code: 'BATON_AUDIT_REFUSED' })
  })

  test('no answer within the time limit is transient, and the breaker opens after a few', async () => {
    const client = await clientOf(() => undefined, 20)
    const opened = new Promise<boolean>((resolve) => client.onBlocked(resolve))
    for (let call = 0; call < 6; call += 1) {
      await expect(client.append([entry()])).rejects.toMatchObject({ kind: 'transient' })
    }
    expect(await opened).toBe(true)
    expect(client.blocked).toBe(true)
    await expect(client.append([entry()])).rejects.toMatchObject({ code: 'BATON_BREAKER_OPEN' })
  })

  test('nobody listening is transient', async () => {
    const client = createAuditClient({ url: 'http://127.0.0.1:1', token: 't' })
    closers.push(() => client.close())
    const code = 'BATON_AUDIT_UNAVAILABLE'
    await expect(client.append([entry()])).rejects.toMatchObject({ kind: 'transient', code })
  })
})
